import type { CatalogView } from "@svc/catalog";
import type { SeenAccounts } from "@svc/connections";
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
  describeProgram,
  type ProgramDescription,
  type ProgramFault,
  readProgram,
} from "@svc/program";
import { openReadable } from "../drive/store/stored-program.ts";
import type { JobsContext } from "./context.ts";

/** A program of a project that is to be checked. `isStored`: true if it was accepted earlier, for example as a skill. */
type CheckRequest = {
  readonly projectId: ProjectId;
  readonly programJson: string;
  readonly isStored: boolean;
  /** The access scope of the caller who runs the program. Null if the caller's access is not limited. */
  readonly binding: Binding | null;
  /**
   * For a skill (a program used as a tool): its version as `slug@version`, and the versions of the skills that contain it. A skill that
   * runs one of these is refused, because it would contain itself.
   */
  readonly within?: readonly string[];
  /** True if the input is given when the program starts. The program text then need not contain the complete input. Default false. */
  readonly isInputMade?: boolean;
  /** Collects the accounts that the check of a program looks up, so that later code need not look them up again. */
  readonly seen?: SeenAccounts;
};

/** Checks a program against the present tools, accounts and contacts of a project. */
export async function checkForProject(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts" | "meter">,
  { projectId, programJson, isStored, binding, within = [], isInputMade = false, seen }: CheckRequest,
): Promise<CheckedProgram> {
  const found = checkContext(context, { projectId, binding, seen }, await context.views.forProject(projectId));
  const checked = await checkProgram(programJson, { ...found, isStored, within, isInputMade });
  const faults =
    binding === null || "faults" in checked ? [] : boundFaultsOf(checked, binding, documentOf(programJson));
  return faults.length === 0 ? checked : { faults, omitted: 0 };
}

/**
 * Describes the steps of a program of a project, and the data that flows between them. Accounts, contacts, secrets and hosts count as
 * present, because they do not change the flow. Returns undefined if the program cannot be read.
 */
export async function describeForProject(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts" | "meter">,
  { projectId, programJson, isStored }: Pick<CheckRequest, "projectId" | "programJson" | "isStored">,
): Promise<ProgramDescription | undefined> {
  const view = await context.views.forProject(projectId);
  return describeProgram(programJson, {
    ...checkContext(context, { projectId, binding: null, seen: undefined }, view),
    ...{ hasAccounts: present, hasContacts: present, hasSecrets: present, httpHosts: async () => new Set<string>() },
    isStored,
    // The input of a skill or a schedule is given when it starts.
    isInputMade: true,
  });
}

async function present(asked: readonly unknown[]): Promise<readonly boolean[]> {
  return asked.map(() => true);
}

/**
 * Returns the faults that a stored program has under rules which svc added after it accepted the program. Empty if the program follows the
 * new rules too.
 */
export async function youngerFaults(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts" | "meter">,
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
  { db, sealer, accounts, meter }: Pick<JobsContext, "db" | "sealer" | "accounts" | "meter">,
  {
    projectId,
    binding,
    seen,
  }: Pick<CheckRequest, "projectId" | "binding"> & { readonly seen: SeenAccounts | undefined },
  view: CatalogView,
): CheckContext {
  const bound = binding?.entityId ?? "";
  return {
    view,
    run: meter.begin({ projectId }).run,
    async findSkill(name) {
      const found = await skillsForProject(db, projectId).find(name);
      if (found === undefined) return undefined;
      const { slug, version, programDigest } = found;
      return { slug, version, programJson: openReadable(sealer, { projectId, programDigest }, found) };
    },
    hasAccounts: (questions) =>
      Promise.all(
        questions.map(async ({ toolkit, entity }) => {
          // A scoped caller must not learn if another entity has an account. So an account of another entity counts as present here. The
          // program gets a different fault, because it names another entity than the caller's.
          if (bound !== "" && entity !== bound) return true;
          return !("kind" in (await accounts.resolve({ projectId, toolkit, entityId: entity, seen })));
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

/** Returns the parsed JSON of an accepted program. Faults name their place as a path in this JSON. */
function documentOf(programJson: string): unknown {
  const read = readProgram(programJson);
  return "document" in read ? read.document : undefined;
}
