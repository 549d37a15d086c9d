import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { Fault, type FaultCode } from "@svc/core";
import { isFaultCode, toConnectError } from "../calls/connect-error.ts";
import { serverFaults } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { jsonOptions } from "./answer.ts";
import type { CallBody } from "./call-body.ts";
import { decodeFault } from "./decode-fault.ts";

/** An error as Connect writes it into a body, or into the last frame of a stream. */
export type ErrorJson = JsonObject & { code?: string; message?: string };

/** What is known of the call whose error is completed. */
export type FailedCall = {
  method: DescMethod;
  requestId: string;
  body: Pick<CallBody, "bytes" | "bytesMax" | "letGo">;
  logger: Logger;
};

/**
 * Gives an error without a detail the one it should have. Such errors come from the protocol layer (decoding, limits, its
 * headers), which no interceptor sees; all others were made by `fault` and pass as they are.
 */
export function completeError(error: ErrorJson, call: FailedCall): { code: FaultCode; json: ErrorJson } {
  const code = isFaultCode(error.code) ? error.code : "internal";
  if (Array.isArray(error["details"]) && error["details"].length > 0) return { code, json: error };
  const completed = detailedFault(code, error.message ?? "", call);
  return { code: completed.code, json: errorToJson(toConnectError(completed), jsonOptions) as ErrorJson };
}

function detailedFault(code: FaultCode, message: string, { method, requestId, body, logger }: FailedCall): Fault {
  switch (code) {
    case "invalid_argument":
      return message.startsWith("cannot decode")
        ? decodeFault(message, method.input)
        : serverFaults.REQUEST_MALFORMED({ message });
    case "unimplemented":
      return message.startsWith("unknown compression")
        ? serverFaults.COMPRESSION_UNSUPPORTED(message)
        : serverFaults.REQUEST_MALFORMED({ message });
    case "resource_exhausted":
      return serverFaults.BODY_TOO_LARGE(body.bytesMax);
    case "deadline_exceeded":
      return serverFaults.DEADLINE_EXCEEDED();
    case "unavailable":
      return serverFaults.SHUTTING_DOWN();
    case "internal":
    case "unknown":
      if (message.startsWith(binaryFault)) return binaryMalformed(message, method);
      if (message === undeclaredCompression) return frameCompressed();
      // Without a detail the error mapper has not seen it, so nobody has logged it.
      logger.error(
        { requestId, method: `${method.parent.typeName}/${method.name}`, code, message },
        "call failed in the protocol layer",
      );
      return serverFaults.INTERNAL(requestId);
    default:
      // canceled and aborted: the caller has gone, and nobody reads this.
      return new Fault(code, message, []);
  }
}

// The same of a frame that says it is compressed, in a stream that says nothing of how.
const undeclaredCompression = "received compressed envelope, but do not know how to decompress";

function frameCompressed(): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: "a frame of the stream is marked as compressed, and the request names no compression",
    help: "Send the frame plain, or the header `Connect-Content-Encoding: gzip`.",
  });
}

// Connect calls a request that it cannot decode from the binary form an internal error. Only requests are decoded here.
const binaryFault = "parse binary: ";

function binaryMalformed(message: string, { input }: DescMethod): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: `the body is no binary ${input.typeName}: ${message.slice(binaryFault.length)}`,
    help: `Send one ${input.typeName} in the binary form of Protocol Buffers, or JSON as application/json.`,
  });
}
