import { type ConnectRouter, type ConnectRouterOptions, createConnectRouter } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import type { Turns } from "@svc/core";
import { createGate, type GateOptions } from "../auth/gate.ts";
import { requiredRoles } from "../auth/required-role.ts";
import { createAnswerInterceptor } from "../calls/answers.ts";
import { createErrorInterceptor } from "../calls/call-error.ts";
import { requestInterceptor } from "../calls/check-request.ts";
import { jsonOptions } from "./answer.ts";

/** What the router holds its calls to. */
export type RouterOptions = Omit<GateOptions, "roles"> & {
  bodyBytesMax: number;
  /** Gives out the time that answers are written in. */
  turns: Turns;
  /** Ends every call under way. */
  shutdownSignal: AbortSignal;
  /** Adds the services of this node. */
  register: (router: ConnectRouter) => void;
};

/** Longest timeout that a caller may set. */
const timeoutMaxMs = 60_000;
// Of answers in the binary form, which Connect writes itself. Small ones cost more to compress than to send.
const compressMinBytes = 32_768;

/** The calls of one node behind gate and interceptors. Throws an Error for a call of svc.v1 that declares no role. */
export function createRouter({ bodyBytesMax, turns, shutdownSignal, register, ...gate }: RouterOptions): ConnectRouter {
  const options: ConnectRouterOptions = {
    grpc: false,
    grpcWeb: false,
    jsonOptions,
    readMaxBytes: bodyBytesMax,
    maxTimeoutMs: timeoutMaxMs,
    acceptCompression: [compressionGzip],
    compressMinBytes,
    shutdownSignal,
    // The first is the outermost.
    interceptors: [
      createErrorInterceptor(gate.mapError, gate.admission.noteFault),
      createAnswerInterceptor({ turns, jsonOptions }),
      requestInterceptor,
    ],
    requestGate: createGate({ ...gate, roles: () => roles }),
  };
  const router = createConnectRouter(options);
  register(router);
  const roles = requiredRoles(router);
  return router;
}
