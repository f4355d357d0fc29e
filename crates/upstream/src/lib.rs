//! Upstream MCP servers: one task for each keeps a connection, reports what the server says, and makes calls.
