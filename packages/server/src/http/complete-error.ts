import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString, errorToJson } from "@connectrpc/connect/protocol-connect";
import {
  bodyTooLarge,
  compressionUnsupported,
  deadlineExceeded,
  internalFault,
  requestMalformed,
  shuttingDown,
} from "../errors.ts";
import type { Logger } from "../logger.ts";
import { jsonOptions } from "./answer.ts";
import { decodeFault } from "./decode-fault.ts";

/** An error as Connect writes it into a body, or into the last frame of a stream. */
export type ErrorJson = JsonObject & { code?: string; message?: string };

/** What is known of the call whose error is completed. */
export type FailedCall = {
  method: DescMethod;
  requestId: string;
  bodyBytesMax: number;
  body: Uint8Array | undefined;
  logger: Logger;
};

/**
 * Gives an error without a detail the one it should have. Such errors come from the protocol layer (decoding, limits, its
 * headers), which no interceptor sees; all others were made by `fault` and pass as they are.
 */
export function completeError(error: ErrorJson, call: FailedCall): { code: Code; json: ErrorJson } {
  const code = codeFromString(error.code ?? "") ?? Code.Internal;
  if (Array.isArray(error["details"]) && error["details"].length > 0) return { code, json: error };
  const completed = detailedError(code, error.message ?? "", call);
  return { code: completed.code, json: errorToJson(completed, jsonOptions) as ErrorJson };
}

function detailedError(
  code: Code,
  message: string,
  { method, requestId, bodyBytesMax, body, logger }: FailedCall,
): ConnectError {
  switch (code) {
    case Code.InvalidArgument:
      return message.startsWith("cannot decode")
        ? decodeFault(message, method.input, body)
        : requestMalformed({ message });
    case Code.Unimplemented:
      return message.startsWith("unknown compression")
        ? compressionUnsupported(message)
        : requestMalformed({ message });
    case Code.ResourceExhausted:
      return bodyTooLarge(bodyBytesMax);
    case Code.DeadlineExceeded:
      return deadlineExceeded();
    case Code.Unavailable:
      return shuttingDown();
    case Code.Internal:
    case Code.Unknown:
      if (message.startsWith(binaryFault)) return binaryMalformed(message, method);
      // Without a detail the error mapper has not seen it, so nobody has logged it.
      logger.error(
        { requestId, method: `${method.parent.typeName}/${method.name}`, code: Code[code], message },
        "call failed in the protocol layer",
      );
      return internalFault(requestId);
    default:
      // canceled and aborted: the caller has gone, and nobody reads this.
      return new ConnectError(message, code);
  }
}

// Connect calls a request that it cannot decode from the binary form an internal error. Only requests are decoded here.
const binaryFault = "parse binary: ";

function binaryMalformed(message: string, { input }: DescMethod): ConnectError {
  return requestMalformed({
    message: `the body is no binary ${input.typeName}: ${message.slice(binaryFault.length)}`,
    help: `Send one ${input.typeName} in the binary form of Protocol Buffers, or JSON as application/json.`,
  });
}
