import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { adminList, byId, digestSecret, generateToken, linkExpiry, type ProjectId, requireId } from "@svc/core";
import { insertInvitation } from "@svc/db/people/invitations";
import { deletePerson, endPerson, findPerson, listPeople, type Person } from "@svc/db/people/people";
import { giveRole, type ListedSeat, listSeats, takeRole } from "@svc/db/people/seats";
import { findProject } from "@svc/db/projects/repo";
import { type AdminService, type Person as PersonMessage, PersonSchema } from "@svc/gen/admin";
import { Role } from "@svc/gen/options";
import { roleMessage } from "../auth/role-message.ts";
import { peoplePaths } from "../people/paths.ts";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";
import { requireKeyRole } from "./keys.ts";

const dayMs = 86_400_000;
/** Lifetime of an invitation in milliseconds: the default, and the maximum. */
const [lifeMs, lifeMaxMs] = [7 * dayMs, 30 * dayMs];

/** Returns the methods of AdminService for people who sign in with company accounts. */
export function peopleMethods(
  context: AdminContext,
): Pick<ServiceImpl<typeof AdminService>, "listPeople" | "createInvitation" | "setPersonRole" | "removePerson"> {
  const { db, clock, sealer, oidc, publicUrl, onPersonEnded } = context;
  const requireProject = async (text: string): Promise<ProjectId> => {
    const projectId = requireId("prj", "projectId", text);
    if ((await findProject(db, projectId)) === undefined) throw adminFaults.PROJECT_NOT_FOUND(projectId);
    return projectId;
  };
  const requirePerson = async (field: string, text: string): Promise<Person> => {
    const id = requireId("per", field, text);
    const person = await findPerson(db, id);
    if (person === undefined) throw adminFaults.PERSON_NOT_FOUND(field, id);
    return person;
  };
  const messageOf = async (person: Person) => personMessage(person, await listSeats(db, person.id));
  return {
    listPeople: adminList(sealer, {
      call: "ListPeople",
      order: byId("per"),
      sizes: { fallback: 50, max: 200 },
      rows: ({ page }) => listPeople(db, page),
      answer: async (rows) => ({ people: await Promise.all(rows.map(messageOf)) }),
    }),
    async createInvitation(request) {
      const projectId = await requireProject(request.projectId);
      const role = requireKeyRole(request.role);
      if (oidc === undefined) throw adminFaults.COMPANY_ACCOUNTS_OFF();
      const mail = requireMail(request.mail, oidc.allowedDomains);
      const nowMs = clock.now();
      const expiresAt =
        request.expiresAt === undefined ? nowMs + lifeMs : linkExpiry(request.expiresAt, nowMs, lifeMaxMs);
      const token = generateToken();
      await insertInvitation(db, { digest: digestSecret(token), projectId, role, mail, createdAt: nowMs, expiresAt });
      return { url: `${publicUrl()}${peoplePaths.invitation}#${token}`, expiresAt: timestampFromMs(expiresAt) };
    },
    async setPersonRole(request) {
      const person = await requirePerson("personId", request.personId);
      const projectId = await requireProject(request.projectId);
      const seat = { personId: person.id, projectId };
      if (request.role === Role.UNSPECIFIED) onPersonEnded(await takeRole(db, seat, clock.now()), person.id);
      else {
        const { keyId, ended } = await giveRole(db, { ...seat, role: requireKeyRole(request.role) }, clock.now());
        onPersonEnded([keyId, ...ended], person.id);
      }
      return { person: await messageOf(person) };
    },
    async removePerson(request) {
      const { id } = await requirePerson("id", request.id);
      onPersonEnded(await endPerson(db, id, clock.now()), id);
      await deletePerson(db, id);
      return {};
    },
  };
}

/** Returns the mail address in lower case. Throws MAIL_INVALID if it is not empty and not an address of an allowed domain. */
function requireMail(text: string, domains: readonly string[]): string {
  const mail = text.trim().toLowerCase();
  const [, domain = ""] = /^[^\s@]{1,64}@([^\s@]{1,255})$/.exec(mail) ?? [];
  const isAllowed = domain !== "" && (domains.length === 0 || domains.includes(domain));
  if (mail === "" || isAllowed) return mail;
  throw adminFaults.MAIL_INVALID(text, domains);
}

function personMessage(person: Person, seats: readonly ListedSeat[]): PersonMessage {
  const { id, mail, name, issuer, subject, isAdministrator, createdAt, signedInAt, confirmedAt } = person;
  return create(PersonSchema, {
    ...{ id, mail, name, issuer, subject, administrator: isAdministrator },
    ...{ createdAt: timestampFromMs(createdAt), signedInAt: timestampFromMs(signedInAt) },
    confirmedAt: timestampFromMs(confirmedAt),
    seats: seats.map(({ projectId, role, givenRole, keyId, isLive }) => ({
      ...{ projectId, keyId, role: roleMessage(role), active: isLive },
      givenRole: givenRole === null ? Role.UNSPECIFIED : roleMessage(givenRole),
    })),
  });
}
