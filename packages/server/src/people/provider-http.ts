import { createAddressGuard } from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";

/** Function that the OpenID Connect library calls for each request to the company's identity provider. */
export type ProviderFetch = (
  url: string,
  options: {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: unknown;
    readonly signal?: AbortSignal | null;
  },
) => Promise<Response>;

const timeoutMs = 10_000;
/** Maximum size of an answer of the provider in bytes. The largest ones are key sets and user information with many groups. */
const answerBytesMax = 1_048_576;

/**
 * Returns the function that sends requests to the company's identity provider, and a function that closes its connections. Connections pass
 * the address guard, which also allows `allowedRanges`. Redirects are not followed. A request takes at most 10 s.
 */
export function createProviderFetch(allowedRanges: readonly string[]): {
  readonly fetch: ProviderFetch;
  readonly close: () => Promise<void>;
} {
  const agent: GuardedAgent = createGuardedAgent({
    ...{ guard: createAddressGuard({ allowedRanges }), connections: 4, keepAliveMaxMs: 1_000 },
    ...{ connectTimeoutMs: timeoutMs, headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs },
    responseBytesMax: answerBytesMax,
  });
  const fetch: ProviderFetch = async (address, { method = "GET", headers = {}, body, signal }) => {
    const url = new URL(address);
    const late = AbortSignal.timeout(timeoutMs);
    const answer = await agent.request({
      ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method: method as "GET" },
      headers: { ...headers, "user-agent": "svc" },
      body: body === undefined || body === null ? null : String(body),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    const bytes = await answer.body.bytes();
    const hasBody = answer.statusCode !== 204 && answer.statusCode !== 304;
    return new Response(hasBody ? new Uint8Array(bytes) : null, {
      status: answer.statusCode,
      headers: headersOf(answer.headers),
    });
  };
  return { fetch, close: () => agent.destroy() };
}

function headersOf(raw: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) for (const one of [value ?? []].flat()) headers.append(name, one);
  return headers;
}
