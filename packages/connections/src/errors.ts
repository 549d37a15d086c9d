import type { AccountVariable, Toolkit } from "@svc/catalog";
import { type Fault, fault, faults, formatValue } from "@svc/core";

/** `entityId` names nobody. */
export function entityIdInvalid(entityId: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENTITY_ID_INVALID",
    field: "entityId",
    message: `entityId ${formatValue(entityId)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send your own id of the user, 1 to 200 characters.",
  });
}

/** No scheme is named where there are several. */
export function schemeRequired(slug: string, declared: readonly string[]): Fault {
  return fault({
    code: "invalid_argument",
    reason: "SCHEME_REQUIRED",
    field: "scheme",
    message: `scheme is empty, and toolkit ${slug} declares several: ${declared.join(", ")}`,
    help: `Send one of ${declared.join(", ")}.`,
  });
}

/** The toolkit declares no such scheme. */
export function schemeNotDeclared(field: string, scheme: string, toolkit: Toolkit): Fault {
  const declared = toolkit.auth.map(({ type }) => type).join(", ");
  return fault({
    code: "invalid_argument",
    reason: "SCHEME_NOT_DECLARED",
    field,
    message: `toolkit ${toolkit.slug} does not declare the scheme ${formatValue(scheme)}; it declares ${declared}`,
    help: "GetToolkitConnectSpec names the schemes.",
  });
}

/** `client_credentials` was asked for an entity. */
export function schemeHeldByProject(slug: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "SCHEME_HELD_BY_PROJECT",
    field: "scheme",
    message: `the scheme client_credentials of toolkit ${slug} is held by the project, not by an entity`,
    help: "Set it with SetProjectCredential.",
  });
}

/** Account variables are missing: one detail each. */
export function accountVariablesMissing(slug: string, missing: readonly AccountVariable[]): Fault {
  return faults({
    code: "invalid_argument",
    message: `accountVariables lacks ${missing.map(described).join("; ")}, which toolkit ${slug} declares`,
    details: missing.map((variable) => ({
      reason: "ACCOUNT_VARIABLE_MISSING",
      field: `accountVariables.${variable.name}`,
      help: `Send ${described(variable)}.`,
    })),
  });
}

/** Account variables that the toolkit does not declare: one detail each. */
export function accountVariablesUnknown(toolkit: Toolkit, unknown: readonly string[]): Fault {
  const declared = toolkit.account.map(({ name }) => name);
  const help =
    declared.length === 0 ? "Leave it out; the toolkit takes none." : `The toolkit takes ${declared.join(", ")}.`;
  return faults({
    code: "invalid_argument",
    message: `accountVariables holds ${unknown
      .slice(0, 10)
      .map((name) => formatValue(name))
      .join(", ")}, which toolkit ${toolkit.slug} does not declare`,
    details: unknown.slice(0, 10).map((name) => ({
      reason: "ACCOUNT_VARIABLE_UNKNOWN",
      field: `accountVariables.${name.slice(0, 80)}`,
      help,
    })),
  });
}

/** The value of an account variable cannot be used. `name` is empty when several make it so. */
export function accountVariableInvalid(
  name: string,
  variables: Readonly<Record<string, string>>,
  { why, example }: { why: string; example: string },
): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ACCOUNT_VARIABLE_INVALID",
    field: name === "" ? "accountVariables" : `accountVariables.${name}`,
    message: name === "" ? why : `accountVariables.${name} is ${formatValue(variables[name])}, which ${why}`,
    help:
      example === ""
        ? "GetToolkitConnectSpec describes the variable."
        : `Send a value such as ${formatValue(example)}.`,
  });
}

/** A member's key would decide which address credentials are sent to. */
export function originNeedsApprover(toolkit: Toolkit): Fault {
  const names = toolkit.account.filter(({ decidesOrigin }) => decidesOrigin).map(({ name }) => name);
  return fault({
    code: "permission_denied",
    reason: "ORIGIN_NEEDS_APPROVER",
    field: "accountVariables",
    message: `${names.join(", ")} of toolkit ${toolkit.slug} decides which address is dialled, and the key has the role member`,
    help: "Make this call with a key of role approver.",
  });
}

/** The scheme cannot be connected on this deployment. */
export function toolkitNotConnectable(slug: string, why: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "TOOLKIT_NOT_CONNECTABLE",
    field: "scheme",
    message: `toolkit ${slug} cannot be connected with oauth2 on this deployment: ${why}`,
    help: "Choose another scheme of the toolkit, or have the operator register it in the deployment file.",
  });
}

/** A scheme's credential is not given. */
export function credentialMissing(field: string, scheme: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CREDENTIAL_MISSING",
    field,
    message: `${field} is empty; the scheme ${scheme} needs it`,
    help: `Send ${field}.`,
  });
}

/** A credential is given that the scheme does not take. */
export function credentialUnexpected(field: string, scheme: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CREDENTIAL_UNEXPECTED",
    field,
    message: `${field} is given; the scheme ${scheme} does not take it`,
    help: `Leave ${field} out, or name the scheme it is for.`,
  });
}

/** A credential that no request could carry. */
export function credentialInvalid(
  field: string,
  why = "is longer than 8,192 characters or holds control characters",
): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CREDENTIAL_INVALID",
    field,
    message: `${field} ${why}`,
    help: "Send it as the app gave it, without line breaks.",
  });
}

/** `redirectUrl` is not among those that the project's policy lets browsers be sent to. */
export function redirectUrlRefused(url: string, why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "REDIRECT_URL_REFUSED",
    field: "redirectUrl",
    message: `redirectUrl ${formatValue(url)} ${why}`,
    help: "Send a loopback URL or one that the project's policy (SetProjectPolicy, redirectUrls) lists.",
  });
}

/** The app did not take the credential. */
export function credentialRefused(slug: string, why: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "CREDENTIAL_REFUSED",
    message: `the app of toolkit ${slug} did not take the credential: it ${why}`,
    help: "Check the credential and the account variables.",
  });
}

/** The app could not be asked whether the credential is good. */
export function probeFailed(slug: string, why: string): Fault {
  return fault({
    code: "unavailable",
    reason: "PROBE_FAILED",
    message: `the app of toolkit ${slug} could not be asked whether the credential is good: it ${why}`,
    help: "Try again; nothing was kept.",
  });
}

/** A reference is held by another account of the deployment. Whose it is is not said. */
export function referenceTaken(field: string): Fault {
  return fault({
    code: "already_exists",
    reason: "REFERENCE_TAKEN",
    field,
    message:
      "another account already holds a reference of this one: the app's own key of an account belongs to one account",
    help: "Delete the other account, or take the reference from it.",
  });
}

/** The project has no such account. */
export function connectionNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "CONNECTION_NOT_FOUND",
    field: "id",
    message: `there is no connected account ${formatValue(id)} in this project`,
    help: "ListConnections lists the project's accounts.",
  });
}

/** `state` is no state of an account. */
export function connectionStateInvalid(state: string, states: readonly string[]): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CONNECTION_STATE_INVALID",
    field: "state",
    message: `state ${formatValue(state)} is not a state of a connected account`,
    help: `Send one of ${states.join(", ")}, or nothing.`,
  });
}

/** The references of an account cannot be what was sent. */
export function referenceInvalid(field: string, why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "REFERENCE_INVALID",
    field,
    message: `${field} ${why}`,
    help: "Send up to 100 different references of 1 to 512 characters, as the app writes them.",
  });
}

/** The account is not active. `lastError` says why, as the account does. */
export function connectionNotUsable(id: string, state: string, lastError = ""): Fault {
  return fault({
    code: "failed_precondition",
    reason: "CONNECTION_NOT_USABLE",
    field: "id",
    message: `the connected account ${id} is ${state}${lastError === "" ? "" : `: ${lastError}`}`,
    help: "Use the entity's present account, or connect again.",
  });
}

/** No read can try the account's credential; `why` is the end of a sentence about its toolkit. */
export function connectionNotTestable({ id, toolkitSlug }: { id: string; toolkitSlug: string }, why: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "CONNECTION_NOT_TESTABLE",
    field: "id",
    message: `the credential of ${id} cannot be tried: toolkit ${toolkitSlug} ${why}`,
    help: "Call one of its tools with the account by CallTool: the outcome shows whether the app takes the credential.",
  });
}

/** The project holds no credential of its own for the toolkit. */
export function projectCredentialNotFound(slug: string): Fault {
  return fault({
    code: "not_found",
    reason: "PROJECT_CREDENTIAL_NOT_FOUND",
    field: "toolkitSlug",
    message: `the project holds no credential of its own for toolkit ${formatValue(slug)}`,
    help: "ListConnections shows those it holds: their scheme is client_credentials, their entity is empty.",
  });
}

/** A secret's name is out of its form. */
export function secretNameInvalid(name: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "SECRET_NAME_INVALID",
    field: "name",
    message: `name ${formatValue(name)} is not a name: a lower-case letter, then letters, digits, - and _, 60 in all`,
    help: "Send a name such as billing_token.",
  });
}

/** A secret's value is out of its form. It is not quoted, nor is its length. */
export function secretValueInvalid(): Fault {
  return fault({
    code: "invalid_argument",
    reason: "SECRET_VALUE_INVALID",
    field: "value",
    message: "value is shorter than 8 or longer than 8,192 characters",
    help: "Send the value as it is to be sent. What is shorter stands in other texts by chance, and could not be masked there.",
  });
}

/** The project has as many secrets as it may. */
export function secretsTooMany(most: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "SECRETS_TOO_MANY",
    message: `the project has ${most} secrets already`,
    help: "Delete those that no program names any more.",
  });
}

/** The project has no secret of that name. */
export function secretNotFound(name: string): Fault {
  return fault({
    code: "not_found",
    reason: "SECRET_NOT_FOUND",
    field: "name",
    message: `name ${formatValue(name)} is not a secret of this project`,
    help: "ListSecrets lists their names.",
  });
}

function described({ name, description, example }: AccountVariable): string {
  return `${name} (${description}${example === "" ? "" : `, such as ${formatValue(example)}`})`;
}
