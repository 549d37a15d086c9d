/** A client of MCP written by hand: each request stands for itself, as revision 2026-07-28 has it. */
export type TestMcpClient = {
  /** Sends a request and answers its whole message, result or error. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  request(method: string, params?: Readonly<Record<string, unknown>>): Promise<any>;
  /** Calls a tool and answers the result. Rejects with an error of the protocol. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  call(name: string, args?: object): Promise<any>;
};

/** Who asks, and where. */
export type TestMcpClientOptions = {
  readonly url: string;
  readonly key: string;
  /** What stands behind the question mark of the address. Default: nothing. */
  readonly query?: string | undefined;
  /** What it says that it can be asked. Default: nothing. */
  readonly capabilities?: object | undefined;
};

/** What a client says that knows tasks, and asks its user. */
export const taskCapabilities = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };

const version = "2026-07-28";

/** Makes one. */
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
