/** Where agents reach the tools. */
export const mcpPath = "/mcp";
