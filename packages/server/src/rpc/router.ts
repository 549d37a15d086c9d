import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { createMethodUrl } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import type { Turns } from "@svc/core";
import { enterCalls } from "../audit/enter-calls.ts";
import type { AuditLog } from "../audit/log.ts";
import { createGate, createRequestGate, type GateOptions } from "../auth/gate.ts";
import { hidePayloads } from "../auth/hide-payloads.ts";
import { readCallRules } from "../auth/required-role.ts";
import { jsonOptions } from "../http/answer.ts";
import { createAnswerWriter } from "./answers.ts";
import { bodyLimitOf } from "./call-body.ts";
import { createCallOutgoingError, createErrorInterceptor } from "./call-error.ts";
import { requestInterceptor } from "./check-request.ts";
import { sayListLimits } from "./list-limits.ts";
import { createUnaryCalls, type UnaryCall, type UnaryMethod } from "./unary-call.ts";

/** Options of the router that contains all API calls of a node. */
export type RouterOptions = Omit<GateOptions, "rules"> & {
  bodyBytesMax: number;
  /** The audit log, in which calls that change something important are recorded. */
  audit: AuditLog;
  /** Decides when large answers are written, so that projects take turns. */
  turns: Turns;
  /** Aborts to end every running call. */
  shutdownSignal: AbortSignal;
  /** Registers the services of this node. */
  register: (router: ConnectRouter) => void;
};

/** Maximum timeout that a caller may request, in milliseconds. */
const timeoutMaxMs = 60_000;
// Minimum bytes of a stream's message that svc compresses. Compressing a smaller message costs more than sending it.
const compressMinBytes = 32_768;

/** The API calls of one node. `handlers`: the calls that stream. `unary`: the other calls, by the path of their URL. */
export type CallRouter = Pick<ConnectRouter, "handlers"> & {
  readonly unary: ReadonlyMap<string, UnaryCall>;
  /** True if a call requires a key. */
  needsKey(method: DescMethod): boolean;
};

/**
 * Creates the API calls of one node, with the gate (checks the key and its rights) and the interceptors. Throws an Error if a call of
 * svc.v1 has no declared role, no rule for scoped keys, or no audit rule.
 */
export function createRouter({
  bodyBytesMax,
  audit,
  turns,
  shutdownSignal,
  register,
  ...gate
}: RouterOptions): CallRouter {
  const admit = createGate({ ...gate, rules: () => rules });
  const outgoing = createCallOutgoingError(gate.mapError, gate.admission.noteFault);
  const write = createAnswerWriter({ turns, jsonOptions });
  const shared = { jsonOptions, maxTimeoutMs: timeoutMaxMs, shutdownSignal };
  const router = createConnectRouter({
    ...shared,
    grpc: false,
    grpcWeb: false,
    readMaxBytes: bodyBytesMax,
    acceptCompression: [compressionGzip],
    compressMinBytes,
    // The first interceptor is the outermost.
    interceptors: [createErrorInterceptor(outgoing), requestInterceptor],
    requestGate: createRequestGate(admit),
  });
  const calls = createUnaryCalls({ ...shared, admit, outgoing, write });
  const unary = new Map<string, UnaryCall>();
  register(noteUnary(router, { bodyBytesMax, audit }, (path, method) => unary.set(path, calls(method))));
  const rules = readCallRules(router);
  const handlers = router.handlers.filter(({ method, requestPath }) => !isUnary(method) || unary.has(requestPath));
  return { handlers, unary, needsKey: (method) => rules.roles.has(method) };
}

/** Names of the Connect options that a service may set when it is registered. Unary calls do not support other options. */
const ownOptions: ReadonlySet<string> = new Set(["grpc", "grpcWeb", "readMaxBytes"]);

/** Returns a router that also records the unary methods of added services, and which of them are audited. */
function noteUnary(
  router: ConnectRouter,
  { bodyBytesMax, audit }: Pick<RouterOptions, "bodyBytesMax" | "audit">,
  note: (path: string, method: UnaryMethod) => void,
): ConnectRouter {
  const noting: ConnectRouter = {
    handlers: router.handlers,
    rpc: router.rpc,
    service(service, implemented, options) {
      const implementation = sayListLimits(service, enterCalls(service, hidePayloads(service, implemented), audit));
      router.service(service, implementation, options);
      const foreign = Object.keys(options ?? {}).find((name) => !ownOptions.has(name));
      if (foreign !== undefined)
        throw new Error(`${service.typeName} sets ${foreign}, which its unary calls do not know`);
      const serviceBytesMax = options?.readMaxBytes ?? bodyBytesMax;
      for (const desc of service.methods) {
        const method: unknown = Reflect.get(implementation, desc.localName);
        if (!isUnary(desc) || typeof method !== "function") continue;
        const implement = method.bind(implementation) as UnaryMethod["implementation"];
        const readMaxBytes = bodyLimitOf(desc, serviceBytesMax);
        note(createMethodUrl("/", desc), { desc, implementation: implement, readMaxBytes });
      }
      return noting;
    },
  };
  return noting;
}

function isUnary(desc: DescMethod): desc is DescMethodUnary {
  return desc.methodKind === "unary";
}
