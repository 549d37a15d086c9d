/** Path at which agents reach svc over MCP. */
export const mcpPath = "/mcp";
