import type { ServiceImpl } from "@connectrpc/connect";
import {
  byId,
  type ConfirmRule,
  isAsStrict,
  type ProjectPrincipal,
  projectList,
  requireId,
  requireProject,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { endGrant, findListedGrant, type ListedGrant, listGrants, narrowGrant } from "@svc/db/grants/repo";
import { lockApiKey } from "@svc/db/keys/repo";
import type { GrantsService } from "@svc/gen/grants";
import { requireToolkits } from "../admin/binding.ts";
import { readConfirmPolicy } from "../admin/request.ts";
import { agentKeyMethods } from "./agent-keys.ts";
import { grantMessage, isActive } from "./convert.ts";
import { grantFaults } from "./errors.ts";
import type { GrantsServiceOptions } from "./options.ts";

/** Creates GrantsService: permissions that people give to agents. */
export function createGrantsService(options: GrantsServiceOptions): ServiceImpl<typeof GrantsService> {
  const { db, clock, sealer, views, onChanged } = options;
  const reread = async (principal: ProjectPrincipal, { id }: ListedGrant) =>
    grantMessage(await requireGrant(principal, id, options));
  return {
    ...agentKeyMethods(options),
    listGrants: projectList(sealer, {
      call: "ListGrants",
      order: byId("grt"),
      rows: ({ page, caller: { projectId } }) => listGrants(db, projectId, { ...page, nowMs: clock.now() }),
      answer: (rows) => ({ grants: rows.map(grantMessage) }),
    }),
    async updateGrant({ id, accessClasses, toolkitSlugs, agentTools, confirm }, ctx) {
      const principal = requireProject(ctx);
      const grant = await requireOwn(principal, id, options);
      if (!isActive(grant)) throw grantFaults.GRANT_ENDED(grant.id);
      const seen = await views.forProject(principal.projectId);
      await withTransaction(db, async (tx) => {
        // The lock makes two requests that narrow the same grant run one after the other. The second one uses the result of the first.
        await lockApiKey(tx, grant.keyId);
        const present = await requireOwn(principal, id, { ...options, db: tx });
        const left = {
          confirm: stricter(await readConfirmPolicy(tx, principal.projectId, confirm), present.confirm),
          accessClasses: narrowed("accessClasses", accessClasses, present.accessClasses, false),
          toolkitSlugs: narrowed("toolkitSlugs", toolkitSlugs, present.toolkitSlugs, true),
          agentTools: agentTools.join() === "none" ? [] : narrowed("agentTools", agentTools, present.agentTools, false),
        };
        if (present.toolkitSlugs.length === 0) requireToolkits(seen, left.toolkitSlugs);
        await narrowGrant(tx, grant, left, clock.now());
      });
      onChanged(grant.keyId);
      return { grant: await reread(principal, grant) };
    },
    async revokeGrant({ id }, ctx) {
      const principal = requireProject(ctx);
      const grant = await requireOwn(principal, id, options);
      await withTransaction(db, (tx) => endGrant(tx, grant, clock.now()));
      onChanged(grant.keyId);
      return { grant: await reread(principal, grant) };
    },
  };
}

type ReadContext = Pick<GrantsServiceOptions, "clock"> & { readonly db: Executor };

async function requireGrant(
  { projectId }: ProjectPrincipal,
  text: string,
  { db, clock }: ReadContext,
): Promise<ListedGrant> {
  const id = requireId("grt", "id", text);
  const grant = await findListedGrant(db, projectId, { id, nowMs: clock.now() });
  if (grant === undefined) throw grantFaults.GRANT_NOT_FOUND(id);
  return grant;
}

/** Returns a grant (a person's permission for an agent) if the caller may end it: with the key that gave the grant, or as an approver. */
async function requireOwn(principal: ProjectPrincipal, text: string, options: ReadContext): Promise<ListedGrant> {
  const grant = await requireGrant(principal, text, options);
  if (principal.role === "approver" || principal.keyId === grant.voucherKeyId) return grant;
  throw grantFaults.GRANT_NOT_YOURS(grant.id);
}

/**
 * Returns the new value of a list in the scope of a grant (a person's permission for an agent). If the request is empty, the list does not
 * change. `present`: the current list. An empty current list means all values, so any requested list is narrower. Throws GRANT_WIDENED for
 * a value that is not in the current list.
 */
function narrowed<Name extends string>(
  field: "accessClasses" | "toolkitSlugs" | "agentTools",
  asked: readonly string[],
  present: readonly Name[],
  isAllWhereEmpty: boolean,
): Name[] {
  if (asked.length === 0) return [...present];
  if (present.length === 0 && isAllWhereEmpty) return readSlugs(asked) as Name[];
  const known: ReadonlySet<string> = new Set(present);
  const foreign = asked.findIndex((one) => !known.has(one));
  if (foreign >= 0) throw grantFaults.GRANT_WIDENED(`${field}[${foreign}]`, asked[foreign] ?? "", present);
  return present.filter((name) => asked.includes(name));
}

/**
 * Returns the new confirmation rule of a grant (a person's permission for an agent): the requested rule, or the present rule if the request
 * has none. Throws GRANT_WIDENED if the requested rule is less strict.
 */
function stricter(asked: ConfirmRule | undefined, present: ConfirmRule): ConfirmRule {
  if (asked === undefined) return present;
  if (!isAsStrict(asked, present)) throw grantFaults.GRANT_CONFIRMS_LESS(asked.person, present.person);
  return asked;
}

const toolkitsMax = 100;

function readSlugs(asked: readonly string[]): string[] {
  const wrong = asked.findIndex((slug, index) => index >= toolkitsMax || !/^[a-z][a-z0-9_]{0,62}$/.test(slug));
  if (wrong >= 0) throw grantFaults.GRANT_WIDENED(`toolkitSlugs[${wrong}]`, asked[wrong] ?? "", []);
  return [...new Set(asked)];
}
