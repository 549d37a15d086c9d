/** An MCP client for tests, written without an MCP library. Each request is independent, as revision 2026-07-28 of the protocol defines. */
export type TestMcpClient = {
  /** Sends a request and returns the whole message, which is a result or an error. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<any>;
  /** Calls a tool and returns the result. Rejects if the answer is a protocol error. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  call(name: string, args?: object): Promise<any>;
};

/** The key and address of a client. */
export type TestMcpClientOptions = {
  readonly url: string;
  readonly key: string;
  /** Query string of the URL that the client calls, without the question mark. Default: empty. */
  readonly query?: string | undefined;
  /** MCP capabilities that the client declares. Default: none. */
  readonly capabilities?: object | undefined;
};

/** MCP capabilities of a client that supports tasks and can ask its user questions. */
export const taskCapabilities = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };

const version = "2026-07-28";

/** Creates an MCP client for tests. */
export function createTestMcpClient({ url, key, query = "", capabilities = {} }: TestMcpClientOptions): TestMcpClient {
  let id = 0;
  const request: TestMcpClient["request"] = async (method, params = {}) => {
    const named = params["name"] ?? params["taskId"];
    const meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const res = await fetch(`${url}/mcp${query === "" ? "" : `?${query}`}`, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", accept: "application/json", authorization: `Bearer ${key}` },
        ...{ "mcp-protocol-version": version, "mcp-method": method },
        ...(typeof named === "string" && { "mcp-name": named }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params: { ...params, _meta: meta } }),
    });
    return res.json();
  };
  return {
    request,
    async call(name, args = {}) {
      const { result, error } = await request("tools/call", { name, arguments: args });
      if (error !== undefined) throw new Error(JSON.stringify(error));
      return result;
    },
  };
}
