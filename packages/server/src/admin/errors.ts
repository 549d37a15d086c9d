import { Code, type ConnectError } from "@connectrpc/connect";
import { fault, formatValue } from "@svc/core";

/** The name of a project or key is empty, too long, or has a character that does not show. */
export function nameInvalid(name: string, charactersMax: number): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "NAME_INVALID",
    field: "name",
    message: `name ${formatValue(name)} ${nameFault(name, charactersMax)}`,
    help: `Send 1 to ${charactersMax} characters without control and format characters.`,
  });
}

function nameFault(name: string, charactersMax: number): string {
  if (name.trim() === "") return "is empty";
  if ([...name].length > charactersMax) return `is longer than ${charactersMax} characters`;
  return "has a control or format character (Unicode Cc, Cf)";
}

/** Another project has the name. */
export function projectNameTaken(name: string): ConnectError {
  return fault({
    code: Code.AlreadyExists,
    reason: "PROJECT_NAME_TAKEN",
    field: "name",
    message: `a project named ${formatValue(name)} exists`,
    help: "Choose another name, or find the project with ListProjects.",
  });
}

/** The deployment has no such project. */
export function projectNotFound(projectId: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "PROJECT_NOT_FOUND",
    field: "projectId",
    message: `there is no project ${formatValue(projectId)}`,
    help: "ListProjects returns the projects.",
  });
}

/** A key cannot have the role. */
export function roleInvalid(name: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "ROLE_INVALID",
    field: "role",
    message: `role ${name} is none that a key can have`,
    help: "Send ROLE_MEMBER or ROLE_APPROVER.",
  });
}

/** A key that would be expired when it is issued. */
export function expiresAtPast(expiresAt: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "EXPIRES_AT_PAST",
    field: "expiresAt",
    message: `expiresAt ${expiresAt} is not in the future`,
    help: "Send a later time, or leave it unset for a key that does not expire.",
  });
}

/** The deployment has no such key. */
export function apiKeyNotFound(id: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "API_KEY_NOT_FOUND",
    field: "id",
    message: `there is no key ${formatValue(id)}`,
    help: "ListApiKeys returns the keys of a project.",
  });
}

/** A word that is no plan approval. */
export function planApprovalInvalid(planApproval: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "PLAN_APPROVAL_INVALID",
    field: "planApproval",
    message: `planApproval ${formatValue(planApproval)} is not known`,
    help: "Send `never`, `destructive` or `always`; empty means `never`.",
  });
}

/** A place that nobody may be sent to, or too many of them. */
export function redirectUrlInvalid(field: string, message: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "REDIRECT_URL_INVALID",
    field,
    message: `${field} ${message}`,
    help: "Send at most 100 absolute https URLs (http for loopback) of up to 2,048 characters, without credentials and fragment.",
  });
}

/** The quarantine has no such post, or no longer. */
export function quarantinedPostNotFound(id: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "QUARANTINED_POST_NOT_FOUND",
    field: "id",
    message: `there is no quarantined post ${formatValue(id)}`,
    help: "Check the id; a post past its retention reads as missing.",
  });
}

/** A release of everything at once. */
export function releaseFilterRequired(): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "FILTER_REQUIRED",
    message: "ids, toolkitSlug, since and until are all empty",
    help: "Name the posts to release by at least one of them.",
  });
}

/** More ids than one call takes. */
export function tooManyIds(count: number, max: number): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "TOO_MANY_IDS",
    field: "ids",
    message: `ids has ${count} entries`,
    help: `Send at most ${max} at once.`,
  });
}
