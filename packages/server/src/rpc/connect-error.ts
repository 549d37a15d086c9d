import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import { Fault, type FaultCode, type FaultDetail, partedOf, retryAfterText, wireParts } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";

// The one place where the faults of the domain and the errors of the wire meet.

const codes = {
  canceled: Code.Canceled,
  unknown: Code.Unknown,
  invalid_argument: Code.InvalidArgument,
  deadline_exceeded: Code.DeadlineExceeded,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  permission_denied: Code.PermissionDenied,
  resource_exhausted: Code.ResourceExhausted,
  failed_precondition: Code.FailedPrecondition,
  aborted: Code.Aborted,
  out_of_range: Code.OutOfRange,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
  unavailable: Code.Unavailable,
  data_loss: Code.DataLoss,
  unauthenticated: Code.Unauthenticated,
} as const satisfies Readonly<Record<FaultCode, Code>>;

/** Whether a text names a code, as the wire and faults write it. */
export function isFaultCode(text: unknown): text is FaultCode {
  return typeof text === "string" && Object.hasOwn(codes, text);
}

/** The HTTP status of a code. */
export function httpStatusOf(code: FaultCode): number {
  return codeToHttpStatus(codes[code]);
}

/** A fault as Connect sends it: one svc.v1.ErrorDetail for each detail, in their order, and Retry-After where the fault says when. */
export function toConnectError(fault: Fault): ConnectError {
  const { code, message } = fault;
  const retryAfter = retryAfterText(fault);
  const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
  const error = new ConnectError(message, codes[code], headers);
  error.details = fault.details.map((detail, index) => wireDetail(fault, detail, index));
  return error;
}

/** A detail with the parts of its texts in its binary form alone: the JSON form is for people and for programs that know no parts. */
function wireDetail({ says, advice }: Fault, detail: FaultDetail, index: number) {
  const ofMessage = index === 0 ? wireParts(says).map((part) => ({ ...part, inMessage: true })) : [];
  const parts = [...ofMessage, ...wireParts(partedOf(advice[index] ?? ""))];
  const value = toBinary(ErrorDetailSchema, create(ErrorDetailSchema, { ...detail, parts }));
  return { type: ErrorDetailSchema.typeName, value, debug: { ...detail } };
}

/** An error as the wire has it. */
export type WireError = ConnectError;

/** What Connect's handler ends a call with whose time is over; its detail is added where it is answered. */
export function timedOut(): WireError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}

/** What Connect's handler answers where something fails before its interceptors begin, or after them. */
export function toWireError(error: unknown): WireError {
  if (error instanceof ConnectError) return error;
  return new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}

/** What is known of the call whose error is mapped. */
export type FailedRequest = Pick<Parameters<ReturnType<Interceptor>>[0], "contextValues" | "signal">;

/** Turns what a call threw into the error that Connect answers with. */
export type OutgoingError = (error: unknown, req: FailedRequest) => ConnectError;

/**
 * Makes the mapping of errors. Connect's own pass, a fault is written as it is, `onFault` hearing of it, a call that its signal ended
 * gets the signal's reason, and of anything else `mapError` makes a fault.
 */
export function createOutgoingError(
  mapError: (error: unknown, req: FailedRequest) => Fault,
  onFault: (fault: Fault, req: FailedRequest) => void = () => {},
): OutgoingError {
  return (error, req) => {
    if (error instanceof ConnectError) return error;
    if (error instanceof Fault) {
      onFault(error, req);
      return toConnectError(error);
    }
    const { aborted, reason } = req.signal;
    return aborted && reason instanceof ConnectError ? reason : toConnectError(mapError(error, req));
  };
}

/** Makes the interceptor after which every error of a call, and of its stream, is Connect's. */
export function createFaultInterceptor(outgoing: OutgoingError): Interceptor {
  return (next) => async (req) => {
    const outgoingOf = (error: unknown) => outgoing(error, req);
    try {
      const res = await next(req);
      return res.stream ? { ...res, message: mapStream(res.message, outgoingOf) } : res;
    } catch (error) {
      throw outgoing(error, req);
    }
  };
}

async function* mapStream<Message>(
  messages: AsyncIterable<Message>,
  outgoing: (error: unknown) => ConnectError,
): AsyncGenerator<Message> {
  try {
    yield* messages;
  } catch (error) {
    throw outgoing(error);
  }
}
