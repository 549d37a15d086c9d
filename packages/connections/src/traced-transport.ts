import { beginSpan, type SpanStart, spanned } from "@svc/core";
import type { AppAnswer, AppCall, AppTransport } from "./app-transport.ts";

/**
 * Returns a transport that makes a trace span (a timed part of a trace) for each request to an app. `continued`: slugs of the shared
 * toolkits whose apps get the header `traceparent`, so that their spans continue the trace. `*` stands for every toolkit, also for those of
 * projects.
 */
export function createTracedTransport(transport: AppTransport, continued: ReadonlySet<string>): AppTransport {
  const isContinued = ({ toolkit: { slug, ownerProjectId } }: AppCall) =>
    continued.has("*") || (ownerProjectId === "" && continued.has(slug));
  return {
    async send(request, call, limits) {
      const span = beginSpan(requestSpan, { method: request.method, call });
      if (span === undefined) return transport.send(request, call, limits);
      const { traceparent } = span;
      const sent = isContinued(call) ? { ...request, headers: { ...request.headers, traceparent } } : request;
      const send = async () => {
        const answer = await transport.send(sent, call, limits);
        if ("status" in answer) span.note({ "http.response.status_code": answer.status });
        return answer;
      };
      return spanned(span, send, errorOf);
    },
  };
}

/** Describes the span of a request. It names no address, because the address of an app may be part of an account. */
function requestSpan({ method, call }: { readonly method: string; readonly call: AppCall }): SpanStart {
  const { slug, ownerProjectId } = call.toolkit;
  const facts = { "http.request.method": method, "svc.toolkit": ownerProjectId === "" ? slug : "private" };
  return { name: `request ${method}`, kind: "client", facts };
}

function errorOf(answer: AppAnswer): string | undefined {
  if (answer.kind !== "answer") return answer.kind;
  return answer.status >= 400 ? String(answer.status) : undefined;
}
