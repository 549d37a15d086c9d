import { type Clock, digestSecret, type Fault, type KeyId, type PersonId, type Sealer } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { findInvitation, type Invitation, spendInvitation } from "@svc/db/people/invitations";
import {
  claimPeople,
  confirmPerson,
  endPerson,
  enterPerson,
  findPerson,
  findPersonBySubject,
  listUnaskedPeople,
  type Person,
  replacePersonRefresh,
  setPersonRefresh,
} from "@svc/db/people/people";
import { listSeats, raiseGivenRole, setSeats } from "@svc/db/people/seats";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import type { OidcSettings } from "../config/oidc.ts";
import { startLoop } from "../loop.ts";
import { peopleFaults } from "./errors.ts";
import { type GroupRights, rightsOfGroups } from "./group-seats.ts";
import type { CompanyAccount, IdentityProvider } from "./provider.ts";

/** The people who sign in with company accounts. */
export type People = {
  readonly settings: OidcSettings;
  readonly provider: IdentityProvider;
  /**
   * Stores the person of an account that signed in, with the seats that the person has now, and returns both. Rejects with ACCOUNT_REFUSED
   * if the account may not sign in or has no role. `invitation`: token of the invitation that the person opened; rejects with
   * INVITATION_INVALID if it cannot be used.
   */
  enter(
    account: CompanyAccount,
    invitation?: string,
  ): Promise<{ readonly person: Person; readonly keys: readonly KeyId[] }>;
  /**
   * Returns the address at which a person signs out of the company account, and from which the browser comes back to `returnTo`. Undefined
   * if the provider has none, or cannot be reached.
   */
  signOutUrl(id: PersonId, returnTo: string): Promise<string | undefined>;
  /** Ends the access of a person: the sessions, the seats, and the keys and grants that depend on them. */
  end(id: PersonId): Promise<void>;
  /**
   * Asks the provider about the people whom no node has asked about for four minutes. Ends the access of people without a refresh token
   * whose last sign-in is too old. Tests call it; a loop calls it every 10 s.
   */
  check(): Promise<void>;
  /** Stops the loop, and closes the connections to the provider. */
  stop(): Promise<void>;
};

/**
 * Dependencies of `People`. `sessionMaxMs`: time after a sign-in for which a person has access, if svc cannot ask the company's identity
 * provider about the person. `onEnded`: called with the keys that ended, and with the person.
 */
export type PeopleOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly audit: AuditLog;
  readonly settings: OidcSettings;
  readonly sessionMaxMs: number;
  readonly provider: IdentityProvider;
  readonly onEnded: (keys: readonly KeyId[], person: PersonId) => void;
  readonly onError: (error: unknown) => void;
};

const [loopMs, checkMs] = [10_000, 240_000];
const batchMax = 20;
/** People whom one turn of the loop reads, to find those without a refresh token. */
const pageMax = 500;
/** Milliseconds after which a person's access ends if the provider could not be asked in the meantime. */
const unconfirmedMs = 3_600_000;

/**
 * Returns the people of the deployment, and starts to check with the company's identity provider if they still have access. A person who is
 * removed at the provider loses access within five minutes. If the provider gave no refresh token, svc cannot ask, and the access ends a
 * set time after the last sign-in.
 */
export function openPeople(options: PeopleOptions): People {
  const { db, clock, audit, settings, sessionMaxMs, provider, onEnded, onError } = options;
  const end = async (id: PersonId, signedInMs?: number) => {
    const about = { action: "Person.End", projectId: undefined, subject: id, entityId: "" };
    const ended = await auditAction(audit, { ...about, actor: { kind: "service" } }, () =>
      endPerson(db, id, clock.now(), signedInMs),
    );
    onEnded(ended, id);
  };
  let after: PersonId | undefined;
  const endUnasked = async () => {
    const signedInMs = clock.now() - sessionMaxMs;
    const { over, next } = await listUnaskedPeople(db, { after, signedInMs, limit: pageMax });
    after = next;
    for (const id of over) await end(id, signedInMs).catch(onError);
  };
  const check = async () => {
    const nowMs = clock.now();
    for (let count = batchMax; count === batchMax; ) {
      const due = await claimPeople(db, { nowMs, beforeMs: nowMs - checkMs, limit: batchMax });
      await Promise.all(due.map((person) => checkPerson(person, options, end).catch(onError)));
      count = due.length;
    }
    await endUnasked();
  };
  const loop = startLoop({ clock, everyMs: loopMs, run: check, onError });
  return {
    ...{ settings, provider, check },
    end: (id) => end(id),
    async enter(account, token) {
      const invitation = token === undefined ? undefined : await openInvitation(token, account, options);
      const known = await findPersonBySubject(db, { issuer: settings.issuer, subject: account.subject });
      const rights = await rightsOfGroups(db, settings.groups, account.groups);
      const refusal = await refusalOf(account, { ...rights, isInvited: invitation !== undefined }, known, options);
      if (refusal !== undefined) {
        if (known !== undefined) await end(known.id);
        throw refusal;
      }
      return enterAccount(account, { ...rights, invitation }, options);
    },
    async signOutUrl(id, returnTo) {
      const person = await findPerson(db, id);
      return provider.logoutUrl(returnTo, person?.mail ?? "").catch(() => undefined);
    },
    async stop() {
      await loop.stop();
      await provider.close();
    },
  };
}

/**
 * Returns the invitation of a token. Throws INVITATION_INVALID if it is unknown, used, expired, or for a mail address that is not the
 * verified one of the account.
 */
async function openInvitation(
  token: string,
  { mail, isMailVerified }: CompanyAccount,
  { db, clock }: PeopleOptions,
): Promise<Invitation> {
  const found = await findInvitation(db, digestSecret(token));
  if (found === undefined) throw peopleFaults.INVITATION_INVALID("the invitation is unknown");
  if (found.spentAt !== null) throw peopleFaults.INVITATION_INVALID("the invitation was used already: it works once");
  if (found.expiresAt <= clock.now()) throw peopleFaults.INVITATION_INVALID("the invitation has expired");
  if (found.mail === "") return found;
  if (found.mail !== mail) throw peopleFaults.INVITATION_INVALID("the invitation is for another mail address");
  if (isMailVerified) return found;
  throw peopleFaults.INVITATION_INVALID("the provider has not verified the mail address of this account");
}

async function enterAccount(
  account: CompanyAccount,
  rights: GroupRights & { readonly invitation: Invitation | undefined },
  options: PeopleOptions,
) {
  const { db, clock, audit, settings, onEnded } = options;
  const { subject, mail, name } = account;
  const { isAdministrator, invitation } = rights;
  const person = await enterPerson(db, { issuer: settings.issuer, subject, mail, name, isAdministrator }, clock.now());
  const about = { action: "Person.SignIn", projectId: undefined, subject: person.id, entityId: "" };
  const { keys, ended } = await auditAction(
    audit,
    { ...about, actor: { kind: "person", personId: person.id } },
    async () => {
      // A provider may give a refresh token only with the first sign-in. The checks then need the stored one.
      const refresh = sealRefresh(person.id, account, options);
      if (refresh !== null) await setPersonRefresh(db, person.id, refresh);
      if (invitation !== undefined) await accept(person.id, invitation, options);
      return setSeats(db, person.id, rights.seats, clock.now());
    },
  );
  onEnded(ended, person.id);
  return { person, keys };
}

/**
 * Uses an invitation, and gives its role to a person who has no higher one. Throws INVITATION_INVALID if another person used it at the same
 * time.
 */
function accept(
  personId: PersonId,
  { digest, projectId, role }: Invitation,
  { db, clock }: PeopleOptions,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    if (!(await spendInvitation(tx, digest, clock.now())))
      throw peopleFaults.INVITATION_INVALID("the invitation was used already: it works once");
    await raiseGivenRole(tx, { personId, projectId, role }, clock.now());
  });
}

/** Returns why an account may not sign in; undefined if it may. A person without a role in any project may not. */
async function refusalOf(
  { mail, isMailVerified }: CompanyAccount,
  { isAdministrator, seats, isInvited }: GroupRights & { readonly isInvited: boolean },
  known: Person | undefined,
  { db, settings }: PeopleOptions,
): Promise<Fault | undefined> {
  const { allowedDomains } = settings;
  const domain = mail.slice(mail.lastIndexOf("@") + 1);
  if (allowedDomains.length > 0 && (!isMailVerified || !mail.includes("@") || !allowedDomains.includes(domain)))
    return peopleFaults.ACCOUNT_REFUSED("the mail address of this account is not one of an allowed domain");
  const isGiven = known !== undefined && (await listSeats(db, known.id)).some(({ givenRole }) => givenRole !== null);
  if (isAdministrator || isInvited || seats.size > 0 || isGiven) return undefined;
  return peopleFaults.ACCOUNT_REFUSED("this account has no role in any project");
}

/** Asks the provider about one person, and stores the answer. Ends the person's access if the provider or the rules no longer allow it. */
async function checkPerson(person: Person, options: PeopleOptions, end: People["end"]): Promise<void> {
  const { db, clock, sealer, settings, provider, onEnded } = options;
  if (person.refresh === null) return;
  const refreshToken = sealer.open(person.refresh, refreshContext(person.id)).toString("utf8");
  let account: CompanyAccount | "ended";
  try {
    account = await provider.refresh(refreshToken, person.subject, (next) =>
      replacePersonRefresh(db, person.id, sealRefresh(person.id, { refreshToken: next }, options)),
    );
  } catch (error) {
    if (clock.now() - person.confirmedAt >= unconfirmedMs) await end(person.id);
    throw error;
  }
  if (account === "ended") return end(person.id);
  const rights = await rightsOfGroups(db, settings.groups, account.groups);
  if ((await refusalOf(account, { ...rights, isInvited: false }, person, options)) !== undefined) return end(person.id);
  const { mail, name } = account;
  const refresh = sealRefresh(person.id, account, options);
  const change = { mail, name, isAdministrator: rights.isAdministrator, refresh };
  // In one transaction, so that the access cannot end between the two writes and come back with the seats.
  const ended = await withTransaction(db, async (tx) => {
    if (!(await confirmPerson(tx, person.id, change, clock.now()))) return [];
    return (await setSeats(tx, person.id, rights.seats, clock.now())).ended;
  });
  onEnded(ended, person.id);
}

function sealRefresh(
  id: PersonId,
  { refreshToken }: Pick<CompanyAccount, "refreshToken">,
  { sealer }: PeopleOptions,
): Buffer | null {
  return refreshToken === undefined ? null : sealer.seal(Buffer.from(refreshToken, "utf8"), refreshContext(id));
}

function refreshContext(id: PersonId): string {
  return `deployment/people/${id}/refresh`;
}
