/** Path at which agents reach svc over MCP. */
export const mcpPath = "/mcp";

/** Path of the MCP server card: the path of MCP, and the suffix that SEP-2127 reserves. */
export const serverCardPath: string = `${mcpPath}/server-card`;
