import type { AppAnswer, AppCall, AppRequest, AppTransport } from "@svc/connections";

/** Reaction of a scripted app to a request: a fixed answer, or a function that returns one. */
export type Move = AppAnswer | ((request: AppRequest) => AppAnswer | Promise<AppAnswer>);

/**
 * A test app that returns the answers of a script, one for each request. After the last one, it returns the status 200 with a made-up
 * object (a ticket). It keeps the requests that it received.
 */
export type ScriptedApp = {
  readonly transport: AppTransport;
  readonly requests: AppRequest[];
  readonly calls: AppCall[];
  readonly timeouts: number[];
  /** Adds answers (or failures) with which the simulated app reacts to the next requests, one for each request. */
  does(...moves: Move[]): void;
};

/** Creates a scripted app. `script`: its reactions to the first requests. */
export function createScriptedApp(...script: Move[]): ScriptedApp {
  const moves = [...script];
  const requests: AppRequest[] = [];
  const calls: AppCall[] = [];
  const timeouts: number[] = [];
  const transport: AppTransport = {
    async send(request, call, { timeoutMs }) {
      requests.push(request);
      calls.push(call);
      timeouts.push(timeoutMs);
      const move = moves.shift() ?? answer(200, { id: "t1", state: "open", inner: "x" });
      return typeof move === "function" ? move(request) : move;
    },
  };
  return { transport, requests, calls, timeouts, does: (...more) => void moves.push(...more) };
}

/** Returns an answer of the app with a JSON body. A body that is a text is sent unchanged. */
export function answer(status: number, body: unknown = "", headers: Record<string, string> = {}): AppAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { kind: "answer", status, headers, body: Buffer.from(text) };
}

/** Result of a request whose connection breaks after the request was sent, before the app answers. */
export const cut: AppAnswer = { kind: "broken", sent: true, message: "the connection was closed" };
export const cutBefore: AppAnswer = { kind: "broken", sent: false, message: "the connection was closed" };
export const timedOut: AppAnswer = { kind: "timeout", sent: true, message: "no answer in time" };
export const unreachable: AppAnswer = { kind: "unreachable", message: "the connection was refused" };
