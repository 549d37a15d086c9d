/** Path at which agents reach the tools. */
export const mcpPath = "/mcp";
