import type { DescService } from "@bufbuild/protobuf";
import {
  type Client,
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  createRouterTransport,
} from "@connectrpc/connect";
import { type ConfirmRule, createId, type KeyId, type ProjectId, principalContext, type Role } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { faultInterceptor } from "@svc/server/testing";

/** The key with which a test makes calls. By default it is an approver's key, which all callers share. */
export type TestCaller = {
  readonly projectId: ProjectId;
  readonly role?: Role;
  readonly keyId?: KeyId;
  /** Rules that say which calls of the key a person must confirm. Default: no rules. */
  readonly confirm?: readonly ConfirmRule[] | undefined;
};

/**
 * Returns a client of a service that runs in this process, over a Connect router without HTTP. Interceptors replace the authentication and
 * the mapping of errors; one of them sets the calling project. `signal` aborts every unfinished call.
 */
export function createProjectClient<Service extends DescService>(
  service: Service,
  register: (router: ConnectRouter) => unknown,
  { projectId, role = "approver", keyId = createId("key", 0), confirm }: TestCaller,
  signal?: AbortSignal,
): Client<Service> {
  const transport = createRouterTransport((router) => void register(router), {
    router: {
      ...(signal && { shutdownSignal: signal }),
      interceptors: [
        faultInterceptor,
        (next) => (req) => {
          req.contextValues.set(principalContext, { kind: "project", projectId, keyId, role, confirm });
          return next(req);
        },
      ],
    },
  });
  return createClient(service, transport);
}

/** The reason of a refusal, and the field that it is about. `field` is empty if the refusal is not about a field. */
export type RefusalDetail = { readonly reason: string; readonly field: string };

/** Returns all details of a refused call. Fails the test if the call succeeds. */
export async function refusalsOf(
  call: Promise<unknown>,
): Promise<{ readonly code: string; readonly details: readonly RefusalDetail[] }> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => ConnectError.from(cause),
  );
  if (error === undefined) throw new Error("the call was not refused");
  const details = error.findDetails(ErrorDetailSchema).map(({ reason, field }) => ({ reason, field }));
  return { code: Code[error.code], details };
}

/** Returns the first detail of a refused call. */
export async function refusalOf(call: Promise<unknown>): Promise<RefusalDetail & { readonly code: string }> {
  const { code, details } = await refusalsOf(call);
  const [{ reason, field } = { reason: "", field: "" }] = details;
  return { code, reason, field };
}
