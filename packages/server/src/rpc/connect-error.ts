import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import { Fault, type FaultCode, type FaultDetail, partedOf, retryAfterText, wireParts } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";

// The code of Connect for each code of a fault. Only this file converts faults to errors of the protocol.

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

/** True if a text is a fault code. */
export function isFaultCode(text: unknown): text is FaultCode {
  return typeof text === "string" && Object.hasOwn(codes, text);
}

/** Returns the HTTP status for a fault code. */
export function httpStatusOf(code: FaultCode): number {
  return codeToHttpStatus(codes[code]);
}

/**
 * Converts a fault to Connect's error type. The error has one svc.v1.ErrorDetail for each detail of the fault, in the same order. If the
 * fault says when the caller may retry, the error has a Retry-After header.
 */
export function toConnectError(fault: Fault): ConnectError {
  const { code, message } = fault;
  const retryAfter = retryAfterText(fault);
  const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
  const error = new ConnectError(message, codes[code], headers);
  error.details = fault.details.map((detail, index) => wireDetail(fault, detail, index));
  return error;
}

/** Returns one detail of an error as it is sent to the client: as bytes, and as JSON without `parts`. */
function wireDetail({ says, advice }: Fault, detail: FaultDetail, index: number) {
  const ofMessage = index === 0 ? wireParts(says).map((part) => ({ ...part, inMessage: true })) : [];
  // Parts of the texts that are waiting times, or names of calls and fields. Readers of JSON do not use them.
  const parts = [...ofMessage, ...wireParts(partedOf(advice[index] ?? ""))];
  const value = toBinary(ErrorDetailSchema, create(ErrorDetailSchema, { ...detail, parts }));
  return { type: ErrorDetailSchema.typeName, value, debug: { ...detail } };
}

/** An error as it is sent to the client. */
export type WireError = ConnectError;

/**
 * Returns the error with which Connect's handler ends a call at its timeout. The error has no svc.v1.ErrorDetail yet; svc adds the detail
 * when it answers.
 */
export function timedOut(): WireError {
  return new ConnectError("the operation timed out", Code.DeadlineExceeded);
}

/**
 * Converts an error to Connect's error type. It is used for errors that occur outside of Connect's interceptors, which convert all other
 * errors.
 */
export function toWireError(error: unknown): WireError {
  if (error instanceof ConnectError) return error;
  return new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}

/** The data of a failed request from which its error is made. */
export type FailedRequest = Pick<Parameters<ReturnType<Interceptor>>[0], "contextValues" | "signal">;

/** Converts an error of a call to Connect's error. */
export type OutgoingError = (error: unknown, req: FailedRequest) => ConnectError;

/**
 * Returns the function that converts any error of an API call to a ConnectError:
 * - A ConnectError is returned unchanged.
 * - A Fault (an error of svc) is converted, and passed to `onFault`.
 * - If the call's signal was aborted with a ConnectError, that error is returned.
 * - Any other error is first converted to a Fault by `mapError`.
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

/** Returns the error of a request that is not a message of its type, as Connect's decoder returns it. */
export function decodeError(error: unknown): ConnectError {
  return ConnectError.from(error, Code.InvalidArgument);
}

/** Creates the interceptor that converts every error of a call, or of its stream, to Connect's error. */
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
