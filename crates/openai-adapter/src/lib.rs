//! A model session over Chat Completions and over Responses.
