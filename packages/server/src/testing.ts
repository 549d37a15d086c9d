import { createFaultInterceptor, createOutgoingError } from "./rpc/connect-error.ts";

/**
 * Interceptor for tests that run a service in their own process. It replaces the error interceptor of the node. Errors that are not faults
 * stay unchanged.
 */
export const faultInterceptor = createFaultInterceptor(
  createOutgoingError((error) => {
    throw error;
  }),
);
