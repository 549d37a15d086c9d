import { Code, type ConnectError } from "@connectrpc/connect";
import { fault, formatValue } from "@svc/core";

/** A page of a foreign origin asks for agents' tools. */
export function originRefused(origin: string): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "ORIGIN_REFUSED",
    message: `the origin ${formatValue(origin)} may not use this endpoint`,
    help: "Pages of this machine and of SVC_PUBLIC_URL may; clients that are no page send no Origin header.",
  });
}

/** A node that only this machine reaches is addressed by a name that is none of this machine's. */
export function hostRefused(host: string): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "HOST_REFUSED",
    message: `the host ${formatValue(host)} is not this service`,
    help: "Set SVC_PUBLIC_URL to the address that callers use, or use a loopback address.",
  });
}
