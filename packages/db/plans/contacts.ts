import type { Executor } from "../src/connect.ts";
import { contactsForProject } from "../src/contacts/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const contacts = (db: Executor) => contactsForProject(db, projectId);
/** Creates a contact, so that the query plans of `put` are recorded. `put` runs one query more for contacts that are not approvers. */
const put = (db: Executor) => {
  const contact = { principalId: "new", name: "", isApprover: false, reach: null, createdAt: nowMs };
  return contacts(db).put(contact, 100_000);
};
/**
 * Deletes a contact (a person who answers questions). `p5` is a contact of the first project who has no pending question, so the deletion
 * is not refused.
 */
const remove = (db: Executor) => contacts(db).delete("p5");

// Recorded query plans of statements on contacts, the people whom a project's jobs may ask.
plan("a contact", (db) => contacts(db).find("p5"));
plan("contacts by their principals", (db) => contacts(db).findMany(["p5", "p6"]));
plan("a page of contacts", (db) => contacts(db).list({ after: undefined, limit: 51 }), { statistics: ["fresh"] });
plan("a page of contacts that is not the first", (db) => contacts(db).list({ after: "p5", limit: 51 }), {
  statistics: ["fresh"],
});
plan("a project's approvers", (db) => contacts(db).listApprovers());
plan("put a contact", put);
plan("delete a contact", remove);
