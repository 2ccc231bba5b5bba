//! The host-driven agent loops and the tool host; decides, never touches the world.
