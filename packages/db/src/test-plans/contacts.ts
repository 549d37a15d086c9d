import type { Executor } from "../connect.ts";
import { contactsForProject } from "../contacts/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const contacts = (db: Executor) => contactsForProject(db, projectId);
/** New, and no approver: all that a contact may be stopped by is looked at. */
const put = (db: Executor) => {
  const contact = { principalId: "new", name: "", isApprover: false, reach: null, createdAt: nowMs };
  return contacts(db).put(contact, 100_000);
};
/** `p5` is a contact of the first project, and no ask has reached it. */
const remove = (db: Executor) => contacts(db).delete("p5");

const one = { contacts: "contacts_key(project_id, principal_id)" };
/** A project has a thousand at most. */
const ofProject = { contacts: "contacts_key(project_id)" };

/** Contacts: the people whom a project's jobs may ask. */
export const contactPlans: readonly Plan[] = [
  { name: "a contact", run: (db) => contacts(db).find("p5"), reads: one },
  { name: "contacts by their principals", run: (db) => contacts(db).findMany(["p5", "p6"]), reads: one },
  {
    name: "a page of contacts",
    statistics: ["fresh"],
    run: (db) => contacts(db).list({ after: undefined, limit: 51 }),
    reads: ofProject,
    isOrdered: true,
  },
  {
    name: "a page of contacts that is not the first",
    statistics: ["fresh"],
    run: (db) => contacts(db).list({ after: "p5", limit: 51 }),
    reads: one,
    isOrdered: true,
  },
  { name: "a project's approvers", run: (db) => contacts(db).listApprovers(), reads: ofProject },
  {
    name: "lock a project's approvers",
    words: `"is_approver" = $2) order by "contacts"."principal_id" asc for update`,
    run: put,
    reads: ofProject,
  },
  { name: "lock a contact", words: `"principal_id" = $2) for update`, run: put, reads: one },
  { name: "count a project's contacts", words: "count(*)", run: put, reads: ofProject },
  { name: "put a contact", words: `insert into "contacts"`, run: put, reads: {} },
  {
    name: "whether a pending ask has reached a contact",
    words: `from "job_asks"`,
    run: remove,
    reads: { job_asks: "job_asks_state((state || ' '::text), project_id, id)" },
  },
  { name: "delete a contact", words: `delete from "contacts"`, run: remove, reads: one },
];
