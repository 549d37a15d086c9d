import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { roles, systemClock } from "@svc/core";
import { AdminService, type Person } from "@svc/gen/admin";
import { Role } from "@svc/gen/options";
import { findProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { parseSpan } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { roleOf, roleText } from "../text/bound.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

const { listPeople, createInvitation, setPersonRole, removePerson } = AdminService.method;
const exampleId = "per_01h455vb4pex5vsknk084sn02q";

type InviteValues = { readonly project: string; readonly role: string; readonly expiresIn?: number };
type RoleValues = { readonly project: string; readonly role: string };

/** The commands `svc people list|invite|role|remove`, for people who sign in with company accounts. */
export const addPeopleCommand = topic({
  says: "list and invite the people who sign in with company accounts, and set their roles, as the administrator",
  examples: ["svc people list", "svc people invite --project billing --role member --mail ada@example.com"],
  commands: {
    list: list(listPeople, {
      says: "list the people who have signed in, with their roles in projects",
      rows: "people",
      table: {
        ID: "id",
        MAIL: ({ mail }) => mail,
        NAME: ({ name }) => name,
        ROLES: seatsText,
        "SIGNED IN": "signedInAt",
        CONFIRMED: "confirmedAt",
      },
      json: "the people as a JSON list",
      examples: ["svc people list", "svc people list --json"],
    }),
    invite: call(createInvitation, {
      says: "create a link that gives a role in a project to the person who opens it and signs in; it works once",
      options: [
        ["--project <id or name>", "project in which the person gets the role", { default: "default" }],
        ["--role <role>", "what the person may do", { choices: roles, default: "member" }],
        [
          "--mail <address>",
          "mail address of the only account that can accept it (default: any allowed account)",
          { fills: "mail" },
        ],
        [
          "--expires-in <duration>",
          "how long the link works, such as 2d, at most 30d (default: 7d)",
          { parse: parseSpan },
        ],
      ],
      request: async ({ admin, values: { project, role, expiresIn } }: Run<InviteValues>) => ({
        projectId: await findProjectId(admin(), project),
        role: roleOf(role),
        ...(expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + expiresIn) }),
      }),
      json: "the link as JSON",
      shows: ({ url }) => url,
      notes: ({ expiresAt }) => `Works once, until ${timeText(expiresAt)}. Send it only to the person whom you invite.`,
      examples: [
        "svc people invite --mail ada@example.com",
        "svc people invite --project billing --role viewer --expires-in 2d",
      ],
    }),
    role: call(setPersonRole, {
      says: "give a person a role in a project, or take the given role away with none",
      takes: { "<personId>": "id of the person, per_…" },
      options: [
        ["--project <id or name>", "project in which the person gets the role", { default: "default" }],
        ["--role <role>", "what the person may do", { choices: [...roles, "none"], default: "member" }],
      ],
      request: async ({ admin, values: { project, role } }: Run<RoleValues>) => ({
        projectId: await findProjectId(admin(), project),
        role: role === "none" ? Role.UNSPECIFIED : roleOf(role),
      }),
      result: "person",
      json: "the person as JSON",
      shows: ({ person }) => `${person?.id}: ${(person && seatsText(person)) || "no role in any project"}`,
      examples: [
        `svc people role ${exampleId} --role approver`,
        `svc people role ${exampleId} --project billing --role none`,
      ],
    }),
    remove: call(removePerson, {
      says: "delete a person, and end the sessions, keys and grants of that person",
      takes: { "<id>": "id of the person, per_…" },
      deleted: "id",
      json: "the id as JSON",
      shows: "{id} was removed",
      examples: [`svc people remove ${exampleId}`],
    }),
  },
});

/** Returns the roles of a person, such as `administrator, member of prj_…`. Seats that have ended are left out. */
function seatsText({ administrator, seats }: Person): string {
  const live = seats.filter(({ active }) => active).map(({ role, projectId }) => `${roleText(role)} of ${projectId}`);
  return plainText([...(administrator ? ["administrator"] : []), ...live].join(", "));
}
