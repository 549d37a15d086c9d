import { createFaultInterceptor, createOutgoingError } from "./rpc/connect-error.ts";

/** Replaces the node's error interceptor for a service in a test's own process. Errors that are not faults stay unchanged. */
export const faultInterceptor = createFaultInterceptor(
  createOutgoingError((error) => {
    throw error;
  }),
);
