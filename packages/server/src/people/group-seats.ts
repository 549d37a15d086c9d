import type { ProjectId, Role } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { higherRole } from "@svc/db/people/seats";
import { findProject, findProjectByName, listProjects } from "@svc/db/projects/repo";
import type { GroupRole } from "../config/oidc.ts";

/** Maximum number of projects in which `*` gives a role: the newest ones. */
const projectsMax = 200;

/**
 * Rights of a person, given by the groups that the company's identity provider reports for the person. `seats`: the role in each project.
 */
export type GroupRights = { readonly isAdministrator: boolean; readonly seats: ReadonlyMap<ProjectId, Role> };

/**
 * Returns the rights that a person has by SVC_OIDC_GROUPS, which assigns roles to groups of the company's identity provider. Projects that
 * do not exist are left out.
 */
export async function rightsOfGroups(
  db: Database,
  rules: readonly GroupRole[],
  groups: readonly string[],
): Promise<GroupRights> {
  const own = rules.filter(({ group }) => groups.includes(group));
  const seats = new Map<ProjectId, Role>();
  for (const rule of own) {
    if (rule.role === "administrator") continue;
    for (const id of await projectsOf(db, rule.project)) seats.set(id, higherRole(seats.get(id), rule.role));
  }
  return { isAdministrator: own.some(({ role }) => role === "administrator"), seats };
}

type NamedProject = Exclude<GroupRole, { role: "administrator" }>["project"];

async function projectsOf(db: Database, named: NamedProject): Promise<ProjectId[]> {
  if (named === "*") return (await listProjects(db, { after: undefined, limit: projectsMax })).map(({ id }) => id);
  const found = typeof named === "string" ? await findProject(db, named) : await findProjectByName(db, named.name);
  return found === undefined ? [] : [found.id];
}
