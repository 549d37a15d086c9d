import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { createMethodUrl } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import type { Turns } from "@svc/core";
import { enterCalls } from "../audit/enter-calls.ts";
import type { AuditLog } from "../audit/log.ts";
import { createGate, createRequestGate, type GateOptions } from "../auth/gate.ts";
import { readCallRules } from "../auth/required-role.ts";
import { jsonOptions } from "../http/answer.ts";
import { createAnswerWriter } from "./answers.ts";
import { createCallOutgoingError, createErrorInterceptor } from "./call-error.ts";
import { requestInterceptor } from "./check-request.ts";
import { sayListLimits } from "./list-limits.ts";
import { createUnaryCalls, type UnaryCall, type UnaryMethod } from "./unary-call.ts";

/** What the router holds its calls to. */
export type RouterOptions = Omit<GateOptions, "rules"> & {
  bodyBytesMax: number;
  /** Where calls are entered that are declared as audited. */
  audit: AuditLog;
  /** Gives out the time that answers are written in. */
  turns: Turns;
  /** Ends every call under way. */
  shutdownSignal: AbortSignal;
  /** Adds the services of this node. */
  register: (router: ConnectRouter) => void;
};

/** Longest timeout that a caller may set. */
const timeoutMaxMs = 60_000;
// Of the messages of streams. Small ones cost more to compress than to send.
const compressMinBytes = 32_768;

/** The calls of one node: Connect's handlers, which serve its streams, and its unary ones by path. */
export type CallRouter = Pick<ConnectRouter, "handlers"> & {
  readonly unary: ReadonlyMap<string, UnaryCall>;
  /** Whether a call is refused to who shows no key. */
  needsKey(method: DescMethod): boolean;
};

/** The calls of one node behind gate and interceptors. Throws an Error for a call of svc.v1 that declares no role, not what it is to a bound key, or not whether it is audited. */
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
    // The first is the outermost.
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

/** The options that a service may set for itself. */
const ownOptions: ReadonlySet<string> = new Set(["grpc", "grpcWeb", "readMaxBytes"]);

/** The router, noting the unary methods of the services that are added, whose audited calls are entered. */
function noteUnary(
  router: ConnectRouter,
  { bodyBytesMax, audit }: Pick<RouterOptions, "bodyBytesMax" | "audit">,
  note: (path: string, method: UnaryMethod) => void,
): ConnectRouter {
  const noting: ConnectRouter = {
    handlers: router.handlers,
    rpc: router.rpc,
    service(service, implemented, options) {
      const implementation = sayListLimits(service, enterCalls(service, implemented, audit));
      router.service(service, implementation, options);
      const foreign = Object.keys(options ?? {}).find((name) => !ownOptions.has(name));
      if (foreign !== undefined)
        throw new Error(`${service.typeName} sets ${foreign}, which its unary calls do not know`);
      const readMaxBytes = options?.readMaxBytes ?? bodyBytesMax;
      for (const desc of service.methods) {
        const method: unknown = Reflect.get(implementation, desc.localName);
        if (!isUnary(desc) || typeof method !== "function") continue;
        const implement = method.bind(implementation) as UnaryMethod["implementation"];
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
