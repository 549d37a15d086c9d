import { listAssertedGrants } from "../src/grants/repo.ts";
import {
  decideDeviceCode,
  findDeviceCode,
  findDeviceCodeOfPerson,
  insertDeviceCode,
  spendDeviceCode,
  sweepDeviceCodes,
} from "../src/people/device-codes.ts";
import { findInvitation, insertInvitation, spendInvitation, sweepInvitations } from "../src/people/invitations.ts";
import {
  claimPeople,
  confirmPerson,
  deletePerson,
  endPerson,
  endPersonSessions,
  enterPerson,
  findPerson,
  findPersonBySubject,
  listPeople,
  listUnaskedPeople,
  replacePersonRefresh,
  setPersonRefresh,
  sweepUsedAssertions,
  useAssertion,
} from "../src/people/people.ts";
import { giveRole, listSeats, raiseGivenRole, setSeats, takeRole } from "../src/people/seats.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const digest = Buffer.alloc(32, 7);
const [personId, projectId, otherId] = [seededId("per", 10), seededId("prj", 1), seededId("prj", 2)];
const account = { issuer: "https://login.example.com", subject: "s10" };
const facts = { mail: "", name: "", isAdministrator: false };
const invitation = { digest, projectId, role: "member" as const, mail: "", createdAt: nowMs, expiresAt: nowMs };

// Recorded query plans of statements on people, their seats and invitations, and the sign-ins of programs.
plan("store a person who signs in", (db) => enterPerson(db, { ...account, ...facts }, nowMs));
plan("store what the provider confirmed", (db) => confirmPerson(db, personId, { ...facts, refresh: null }, nowMs));
plan("store the refresh token of a person", (db) => setPersonRefresh(db, personId, null));
plan("replace the refresh token of a person", (db) => replacePersonRefresh(db, personId, null));
plan("a person by the id", (db) => findPerson(db, personId));
plan("a person by the account", (db) => findPersonBySubject(db, account));
plan("claim_people", (db) => claimPeople(db, { nowMs, beforeMs: seededAt(50), limit: 20 }));
plan("list_unasked_people", (db) => listUnaskedPeople(db, { after: personId, signedInMs: seededAt(50), limit: 500 }));
plan("end a person", (db) => endPerson(db, personId, nowMs));
plan("end a person who has not signed in since", (db) => endPerson(db, personId, nowMs, nowMs));
plan("delete a person", (db) => deletePerson(db, seededId("per", 500_000)));
plan("end the sessions of a person", (db) => endPersonSessions(db, personId, undefined));
plan("people", (db) => listPeople(db, { after: undefined, limit: 51 }));
plan("use a token of the provider", (db) => useAssertion(db, digest, nowMs));
plan("sweep_used_assertions", (db) => sweepUsedAssertions(db, seededAt(500), 100));
plan("the seats of a person", (db) => listSeats(db, personId));
plan(["set the seats of a person", "seat_person_sessions"], (db) =>
  setSeats(db, personId, new Map([[otherId, "member"]]), nowMs),
);
plan("raise the role of a seat", (db) => setSeats(db, personId, new Map([[projectId, "approver"]]), nowMs));
plan("give a role", (db) => giveRole(db, { personId, projectId, role: "member" }, nowMs));
plan("raise a given role", (db) => raiseGivenRole(db, { personId, projectId, role: "member" }, nowMs));
plan("take a role", (db) => takeRole(db, { personId, projectId }, nowMs));
plan("store an invitation", (db) => insertInvitation(db, invitation));
plan("an invitation by its token", (db) => findInvitation(db, digest));
plan("use an invitation", (db) => spendInvitation(db, digest, nowMs));
plan("sweep_invitations", (db) => sweepInvitations(db, seededAt(500), 100));
plan("begin the sign-in of a program", (db) =>
  insertDeviceCode(db, { digest, userDigest: digest, clientName: "", expiresAt: nowMs }),
);
plan("a sign-in by the program's code", (db) => findDeviceCode(db, digest));
plan("a sign-in by the person's code", (db) => findDeviceCodeOfPerson(db, digest));
plan("decide about the sign-in of a program", (db) => decideDeviceCode(db, digest, seededId("key", 1), nowMs));
plan("use the code of a program", (db) => spendDeviceCode(db, digest, nowMs));
plan("sweep_device_codes", (db) => sweepDeviceCodes(db, seededAt(500), 100));
plan("the grants of assertions with a voucher", (db) => {
  const known = { projectId, voucherKeyId: seededId("key", 1), clientId: "", clientOrigin: "", resource: "" };
  return listAssertedGrants(db, known);
});
