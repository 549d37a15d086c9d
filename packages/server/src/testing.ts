import { createFaultInterceptor, createOutgoingError } from "./rpc/connect-error.ts";

/** Replaces the node's error interceptor in a test that runs a service in its own process. Errors that are not faults stay unchanged. */
export const faultInterceptor = createFaultInterceptor(
  createOutgoingError((error) => {
    throw error;
  }),
);
