import type { AccountVariable, Toolkit } from "@svc/catalog";
import { call, defineFaults, type FaultText, field, formatValue, text } from "@svc/core";

/** Errors with which the service refuses calls about accounts, credentials and secrets. */
export const connectionFaults = defineFaults({
  /** The request's `entityId` is not a valid id of an entity (customer or user). */
  ENTITY_ID_INVALID: {
    code: "invalid_argument",
    field: "entityId",
    says: (entityId: string) =>
      text`${field("entityId")} ${formatValue(entityId)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send your own id of the user, 1 to 200 characters.",
  },
  SCHEME_REQUIRED: {
    code: "invalid_argument",
    field: "scheme",
    says: (slug: string, declared: readonly string[]) =>
      text`${field("scheme is empty")}, and toolkit ${slug} declares several: ${declared.join(", ")}`,
    help: (_slug: string, declared: readonly string[]) => `Send one of ${declared.join(", ")}.`,
  },
  SCHEME_NOT_DECLARED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (_path: string, scheme: string, toolkit: Toolkit) =>
      `toolkit ${toolkit.slug} does not declare the scheme ${formatValue(scheme)}; it declares ${toolkit.auth.map(({ type }) => type).join(", ")}`,
    help: text`${call("GetToolkitConnectSpec")} names the schemes.`,
  },
  /** The scheme `client_credentials` was requested for an entity (customer or user), but only the project itself can have it. */
  SCHEME_HELD_BY_PROJECT: {
    code: "invalid_argument",
    field: "scheme",
    says: (slug: string) => `the scheme client_credentials of toolkit ${slug} is held by the project, not by an entity`,
    help: text`Set it with ${call("SetProjectCredential")}.`,
  },
  ACCOUNT_VARIABLE_MISSING: {
    code: "invalid_argument",
    says: (slug: string, missing: readonly AccountVariable[]) =>
      text`${field("accountVariables")} lacks ${missing.map(described).join("; ")}, which toolkit ${slug} declares`,
    each: (_slug: string, missing: readonly AccountVariable[]) =>
      missing.map((variable) => ({
        field: `accountVariables.${variable.name}`,
        help: `Send ${described(variable)}.`,
      })),
  },
  ACCOUNT_VARIABLE_UNKNOWN: {
    code: "invalid_argument",
    says: (toolkit: Toolkit, unknown: readonly string[]) =>
      text`${field("accountVariables")} holds ${firstNames(unknown)
        .map((name) => formatValue(name))
        .join(", ")}, which toolkit ${toolkit.slug} does not declare`,
    each: ({ account }: Toolkit, unknown: readonly string[]) =>
      firstNames(unknown).map((name) => ({
        field: `accountVariables.${name.slice(0, 80)}`,
        help:
          account.length === 0
            ? "Leave it out; the toolkit takes none."
            : `The toolkit takes ${account.map((declared) => declared.name).join(", ")}.`,
      })),
  },
  /**
   * An account variable makes an address or another value unusable. `name`: the variable; empty if several variables together are the
   * cause.
   */
  ACCOUNT_VARIABLE_INVALID: {
    code: "invalid_argument",
    field: variableField,
    says: (name: string, variables: Readonly<Record<string, string>>, { why }: { why: string; example: string }) =>
      name === "" ? why : text`${field(variableField(name))} is ${formatValue(variables[name])}, which ${why}`,
    help: (
      _name: string,
      _variables: Readonly<Record<string, string>>,
      { example }: { why: string; example: string },
    ) =>
      example === ""
        ? text`${call("GetToolkitConnectSpec")} describes the variable.`
        : `Send a value such as ${formatValue(example)}.`,
  },
  ORIGIN_NEEDS_APPROVER: {
    code: "permission_denied",
    field: "accountVariables",
    says: ({ slug, account }: Toolkit) =>
      `${account
        .filter(({ decidesOrigin }) => decidesOrigin)
        .map(({ name }) => name)
        .join(", ")} of toolkit ${slug} decides which address is dialled, and the key has the role member`,
    help: "Make this call with a key of role approver.",
  },
  TOOLKIT_NOT_CONNECTABLE: {
    code: "failed_precondition",
    field: "scheme",
    says: (slug: string, why: string, _advice?: FaultText) =>
      `toolkit ${slug} cannot be connected with oauth2 on this deployment: ${why}`,
    help: (_slug: string, _why: string, advice?: FaultText) =>
      advice ?? "Choose another scheme of the toolkit, or have the operator register it in the deployment file.",
  },
  CREDENTIAL_MISSING: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, scheme: string) => text`${field(path)} is empty; the scheme ${scheme} needs it`,
    help: (path: string) => text`Send ${field(path)}.`,
  },
  CREDENTIAL_UNEXPECTED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, scheme: string) => text`${field(path)} is given; the scheme ${scheme} does not take it`,
    help: (path: string) => text`Leave ${field(path)} out, or name the scheme it is for.`,
  },
  CREDENTIAL_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, why?: string) =>
      text`${field(path)} ${why ?? "is longer than 8,192 characters or holds control characters"}`,
    help: "Send it exactly as the app issued it, without line breaks.",
  },
  /** The URL in the field `redirectUrl` is not in the allow list of the project's policy. */
  REDIRECT_URL_REFUSED: {
    code: "invalid_argument",
    field: "redirectUrl",
    says: (url: string, why: string) => text`${field("redirectUrl")} ${formatValue(url)} ${why}`,
    help: text`Send a loopback URL or one that the project's policy (${call("SetProjectPolicy")}, ${field("redirectUrls")}) lists.`,
  },
  CREDENTIAL_REFUSED: {
    code: "failed_precondition",
    says: (slug: string, why: string) => `the app of toolkit ${slug} did not accept the credential: it ${why}`,
    help: "Check the credential and the account variables.",
  },
  PROBE_FAILED: {
    code: "unavailable",
    says: (slug: string, why: string) =>
      `the app of toolkit ${slug} could not be asked if the credential works: it ${why}`,
    help: "Try again; nothing was stored.",
  },
  REFERENCE_TAKEN: {
    code: "already_exists",
    field: (path: string) => path,
    says: "another account already holds a reference of this one: the app's own key of an account belongs to one account",
    help: "Delete the other account, or take the reference from it.",
  },
  CONNECTION_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `there is no connected account ${formatValue(id)} in this project`,
    help: text`${call("ListConnections")} lists the project's accounts.`,
  },
  /** The filter `state` is not a state of an account. */
  CONNECTION_STATE_INVALID: {
    code: "invalid_argument",
    field: "state",
    says: (state: string) => `state ${formatValue(state)} is not a state of a connected account`,
    help: (_state: string, states: readonly string[]) => `Send one of ${states.join(", ")}, or nothing.`,
  },
  REFERENCE_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, why: string) => text`${field(path)} ${why}`,
    help: "Send up to 100 different references of 1 to 512 characters, as the app writes them.",
  },
  /** The account is not active. `lastError` gives the account's reason. */
  CONNECTION_NOT_USABLE: {
    code: "failed_precondition",
    field: "id",
    says: (id: string, state: string, lastError?: string) =>
      `the connected account ${id} is ${state}${lastError ? `: ${lastError}` : ""}`,
    help: "Use the entity's present account, or connect again.",
  },
  /** svc knows no read that can test the account's credential. `why`: the end of a sentence that begins with the toolkit's name. */
  CONNECTION_NOT_TESTABLE: {
    code: "failed_precondition",
    field: "id",
    says: ({ id, toolkitSlug }: { id: string; toolkitSlug: string }, why: string) =>
      `the credential of ${id} cannot be tried: toolkit ${toolkitSlug} ${why}`,
    help: text`Call one of its tools with the account by ${call("CallTool")}: the outcome shows whether the app takes the credential.`,
  },
  PROJECT_CREDENTIAL_NOT_FOUND: {
    code: "not_found",
    field: "toolkitSlug",
    says: (slug: string) => `the project holds no credential of its own for toolkit ${formatValue(slug)}`,
    help: text`${call("ListConnections")} shows those it holds: their scheme is client_credentials, their entity is empty.`,
  },
  /** The address is not that of an OAuth issuer which svc can use. `why`: the end of a sentence. */
  ISSUER_UNUSABLE: {
    code: "failed_precondition",
    field: "issuer",
    says: (why: string) => `the client cannot be stored: ${why}`,
    help: text`Send in ${field("issuer")} the address that the issuer names in its own metadata, such as https://login.example.com.`,
  },
  TOOLKIT_CLIENT_NOT_FOUND: {
    code: "not_found",
    field: "toolkitSlug",
    says: (slug: string) => `the project has no OAuth client for toolkit ${formatValue(slug)}`,
    help: text`${call("PutToolkitClient")} stores one.`,
  },
  SECRET_NAME_INVALID: {
    code: "invalid_argument",
    field: "name",
    says: (name: string) =>
      `name ${formatValue(name)} is not a name: a lower-case letter, then letters, digits, - and _, 60 in all`,
    help: "Send a name such as billing_token.",
  },
  SECRET_VALUE_INVALID: {
    code: "invalid_argument",
    field: "value",
    says: "value is shorter than 8 or longer than 8,192 characters",
    help: "Send the value that requests carry. A shorter value can be part of other texts by chance, and could not be masked there.",
  },
  SECRETS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number) => `the project has ${most} secrets already`,
    help: "Delete secrets that no program uses any more.",
  },
  SECRET_NOT_FOUND: {
    code: "not_found",
    field: "name",
    says: (name: string) => `name ${formatValue(name)} is not a secret of this project`,
    help: text`${call("ListSecrets")} lists their names.`,
  },
});

function variableField(name: string): string {
  return name === "" ? "accountVariables" : `accountVariables.${name}`;
}

/** Returns the first ten account variables, because an error text lists only so many. */
function firstNames(names: readonly string[]): readonly string[] {
  return names.slice(0, 10);
}

function described({ name, description, example }: AccountVariable): string {
  return `${name} (${description}${example === "" ? "" : `, such as ${formatValue(example)}`})`;
}
