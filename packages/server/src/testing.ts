import { createFaultInterceptor, createOutgoingError } from "./rpc/connect-error.ts";

/** What a service in a test's own process needs in place of the node's error interceptor; what is no fault stays what it was. */
export const faultInterceptor = createFaultInterceptor(
  createOutgoingError((error) => {
    throw error;
  }),
);
