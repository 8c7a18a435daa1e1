//! The screens without a world: menu, settings, servers, the question of trust.
