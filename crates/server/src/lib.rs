//! The web server and command line: routes, pages, assets, configuration, wiring.
