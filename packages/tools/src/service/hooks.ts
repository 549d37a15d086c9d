import type { ServiceImpl } from "@connectrpc/connect";
import { type CatalogViews, nearest } from "@svc/catalog";
import {
  type AddressGuard,
  type Clock,
  checkEndpointUrl,
  createId,
  generateSigningSecret,
  type ProjectId,
  requireId,
  requireProject,
  type Sealer,
} from "@svc/core";
import type { Database } from "@svc/db/connect";
import { callHooksForProject } from "@svc/db/hooks/repo";
import { accessClasses, type HookPhase, hookPhases, type StoredAccessClass } from "@svc/db/schema/words";
import type { ToolsService } from "@svc/gen/tools";
import { toHook } from "../convert.ts";
import { toolFaults } from "../errors.ts";
import { hookSecretContext, type KnownHooks } from "../hooks/known-hooks.ts";

/** Dependencies of the methods for hooks (endpoints that check tool calls). */
export type HooksContext = {
  readonly views: CatalogViews;
  /**
   * This node's cache of hooks (endpoints that check tool calls). Methods that change a hook call `forget`, so that this node applies the
   * change at once.
   */
  readonly hooks: Pick<KnownHooks, "forget">;
  /** Checks the addresses of hooks (endpoints that check tool calls). */
  readonly hookGuard: AddressGuard;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly db: Database;
};

/** Maximum number of hooks (endpoints that check tool calls) of a project. A call waits up to 5 s for each hook. */
const hooksMax = 10;

type Methods = Pick<ServiceImpl<typeof ToolsService>, "createHook" | "listHooks" | "updateHook" | "deleteHook">;

/** Returns the methods of ToolsService for hooks (endpoints that check tool calls). */
export function hookMethods({ views, hooks, hookGuard, clock, sealer, db }: HooksContext): Methods {
  return {
    async createHook(request, ctx) {
      const { projectId } = requireProject(ctx);
      const phase = readPhase(request.phase);
      const endpointUrl = checkEndpointUrl(hookGuard, request.endpointUrl);
      const classes = request.accessClasses.map(readClass);
      const toolkitSlugs = await readToolkits(views, projectId, request.toolkitSlugs);
      const createdAt = clock.now();
      const id = createId("hok", createdAt);
      const secret = generateSigningSecret();
      const signingSecret = sealer.seal(Buffer.from(secret, "utf8"), hookSecretContext(projectId, id));
      const scope = { toolkitSlugs, accessClasses: [...new Set(classes)], position: request.position, isActive: true };
      const hook = { id, phase, endpointUrl, signingSecret, ...scope, createdAt };
      if (!(await callHooksForProject(db, projectId).create(hook, hooksMax))) throw toolFaults.HOOKS_TOO_MANY(hooksMax);
      hooks.forget(projectId);
      return { hook: toHook({ ...hook, projectId }), signingSecret: secret };
    },
    async listHooks(_request, ctx) {
      const rows = await callHooksForProject(db, requireProject(ctx).projectId).list();
      return { hooks: rows.map(toHook) };
    },
    async updateHook({ id: text, endpointUrl, active, position }, ctx) {
      const { projectId } = requireProject(ctx);
      const id = requireId("hok", "id", text);
      const row = await callHooksForProject(db, projectId).update(id, {
        ...(endpointUrl !== "" && { endpointUrl: checkEndpointUrl(hookGuard, endpointUrl) }),
        ...(active !== undefined && { isActive: active }),
        ...(position !== undefined && { position }),
      });
      if (row === undefined) throw toolFaults.HOOK_NOT_FOUND(id);
      hooks.forget(projectId);
      return { hook: toHook(row) };
    },
    async deleteHook({ id: text }, ctx) {
      const { projectId } = requireProject(ctx);
      const id = requireId("hok", "id", text);
      if (!(await callHooksForProject(db, projectId).delete(id))) throw toolFaults.HOOK_NOT_FOUND(id);
      hooks.forget(projectId);
      return {};
    },
  };
}

function readPhase(text: string): HookPhase {
  const phase = hookPhases.find((known) => known === text);
  if (phase === undefined) throw toolFaults.HOOK_PHASE_INVALID(text);
  return phase;
}

function readClass(text: string): StoredAccessClass {
  const known = accessClasses.find((one) => one === text);
  if (known === undefined) throw toolFaults.ACCESS_CLASS_INVALID(text);
  return known;
}

async function readToolkits(views: CatalogViews, projectId: ProjectId, slugs: readonly string[]): Promise<string[]> {
  const { toolkits } = await views.forProject(projectId);
  const wrong = slugs.findIndex((slug) => !toolkits.has(slug));
  if (wrong >= 0)
    throw toolFaults.HOOK_TOOLKIT_NOT_FOUND(wrong, slugs[wrong] ?? "", nearest(slugs[wrong] ?? "", toolkits.keys()));
  return [...new Set(slugs)];
}
