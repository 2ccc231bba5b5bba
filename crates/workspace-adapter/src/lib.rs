//! One local folder as a workspace; nothing outside it.
