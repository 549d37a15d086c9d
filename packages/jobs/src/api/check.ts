import type { CatalogView } from "@svc/catalog";
import type { Binding, ProjectId } from "@svc/core";
import { contactsForProject } from "@svc/db/contacts/repo";
import { readHttpHosts } from "@svc/db/projects/http-hosts";
import { secretsForProject } from "@svc/db/secrets/repo";
import { skillsForProject } from "@svc/db/skills/repo";
import {
  boundFaultsOf,
  type CheckContext,
  type CheckedProgram,
  checkProgram,
  type ProgramFault,
  readProgram,
} from "@svc/program";
import { openReadable } from "../drive/store/stored-program.ts";
import type { JobsContext } from "./context.ts";

/** A program of a project. `isStored`: it was accepted before, as a skill's was. */
type CheckRequest = {
  readonly projectId: ProjectId;
  readonly programJson: string;
  readonly isStored: boolean;
  /** The access scope of the caller who runs it. Null: not limited. */
  readonly binding: Binding | null;
  /** For a skill: its version, as `slug@version`. */
  readonly within?: readonly string[];
  /** True if the caller that starts it creates its input. */
  readonly isInputMade?: boolean;
};

/** Checks a program against the project's present tools, accounts and contacts. */
export async function checkForProject(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts">,
  { projectId, programJson, isStored, binding, within = [], isInputMade = false }: CheckRequest,
): Promise<CheckedProgram> {
  const found = checkContext(context, { projectId, binding }, await context.views.forProject(projectId));
  const checked = await checkProgram(programJson, { ...found, isStored, within, isInputMade });
  const faults =
    binding === null || "faults" in checked ? [] : boundFaultsOf(checked, binding, documentOf(programJson));
  return faults.length === 0 ? checked : { faults, omitted: 0 };
}

/** Returns the faults that a program accepted earlier has under newer rules. */
export async function youngerFaults(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts">,
  { projectId, programJson }: Pick<CheckRequest, "projectId" | "programJson">,
): Promise<readonly ProgramFault[]> {
  const checked = await checkForProject(context, { projectId, programJson, isStored: false, binding: null });
  if (!("faults" in checked)) return [];
  const before = await checkForProject(context, { projectId, programJson, isStored: true, binding: null });
  const nameOf = ({ code, pointer, message }: ProgramFault) => [code, pointer, message].join(" ");
  const known = new Set("faults" in before ? before.faults.map(nameOf) : []);
  return checked.faults.filter((fault) => !known.has(nameOf(fault)));
}

function checkContext(
  { db, sealer, accounts }: Pick<JobsContext, "db" | "sealer" | "accounts">,
  { projectId, binding }: Pick<CheckRequest, "projectId" | "binding">,
  view: CatalogView,
): CheckContext {
  const bound = binding?.entityId ?? "";
  return {
    view,
    async findSkill(name) {
      const found = await skillsForProject(db, projectId).find(name);
      if (found === undefined) return undefined;
      const { slug, version, programDigest } = found;
      return { slug, version, programJson: openReadable(sealer, { projectId, programDigest }, found) };
    },
    hasAccounts: (questions) =>
      Promise.all(
        questions.map(async ({ toolkit, entity }) => {
          // A scoped caller must not learn what another entity has: naming the entity is the fault.
          if (bound !== "" && entity !== bound) return true;
          return !("kind" in (await accounts.resolve({ projectId, toolkit, entityId: entity })));
        }),
      ),
    async hasSecrets(names) {
      if (bound !== "") return names.map(() => true);
      const found = new Set((await secretsForProject(db, projectId).list()).map(({ name }) => name));
      return names.map((name) => found.has(name));
    },
    httpHosts: () => readHttpHosts(db, projectId),
    async hasContacts(principals) {
      const found = await contactsForProject(db, projectId).findMany(principals);
      const known = new Set(found.map(({ principalId }) => principalId));
      return principals.map((principal) => known.has(principal));
    },
  };
}

/** Returns an accepted program as the document that its faults point into. */
function documentOf(programJson: string): unknown {
  const read = readProgram(programJson);
  return "document" in read ? read.document : undefined;
}
