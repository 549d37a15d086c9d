import { agentToolGroups, type Fault, fault, formatValue } from "@svc/core";
import { deploymentSecretNames } from "@svc/node";

/** The name of a project or key is empty, too long, or has a character that does not show. */
export function nameInvalid(name: string, charactersMax: number): Fault {
  return fault({
    code: "invalid_argument",
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
export function projectNameTaken(name: string): Fault {
  return fault({
    code: "already_exists",
    reason: "PROJECT_NAME_TAKEN",
    field: "name",
    message: `a project named ${formatValue(name)} exists`,
    help: "Choose another name, or find the project with ListProjects.",
  });
}

/** A second project, which would receive the events of the first. */
export function audienceUndeclared(): Fault {
  return fault({
    code: "failed_precondition",
    reason: "AUDIENCE_UNDECLARED",
    message:
      "the deployment has a project and does not say which projects receive events: another one would receive all of them",
    help: "Set SVC_WEBHOOK_AUDIENCE to accounts or projects, or SVC_DEPLOYMENT to a deployment file, and start the service again.",
  });
}

/** The deployment has no such project. */
export function projectNotFound(projectId: string): Fault {
  return fault({
    code: "not_found",
    reason: "PROJECT_NOT_FOUND",
    field: "projectId",
    message: `there is no project ${formatValue(projectId)}`,
    help: "ListProjects returns the projects.",
  });
}

/** A key cannot have the role. */
export function roleInvalid(name: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ROLE_INVALID",
    field: "role",
    message: `role ${name} is none that a key can have`,
    help: "Send ROLE_MEMBER or ROLE_APPROVER.",
  });
}

/** A key that would be expired when it is issued. */
export function expiresAtPast(expiresAt: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "EXPIRES_AT_PAST",
    field: "expiresAt",
    message: `expiresAt ${expiresAt} is not in the future`,
    help: "Send a later time, or leave it unset for a key that does not expire.",
  });
}

/** The deployment has no such key. */
export function apiKeyNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "API_KEY_NOT_FOUND",
    field: "id",
    message: `there is no key ${formatValue(id)}`,
    help: "ListApiKeys returns the keys of a project.",
  });
}

/** A word that is no plan approval. */
export function planApprovalInvalid(planApproval: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "PLAN_APPROVAL_INVALID",
    field: "planApproval",
    message: `planApproval ${formatValue(planApproval)} is not known`,
    help: "Send `never`, `destructive` or `always`; empty means `never`.",
  });
}

/** A number that is no quota. */
export function quotaInvalid(name: string, value: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "QUOTA_INVALID",
    field: `quotas.${name}`,
    message: `quotas.${name} ${formatValue(value)} is no quota`,
    help: "Send a whole number from 1 on, 0 for the default, or -1 for no bound.",
  });
}

/** A text that is no host alone, or too many hosts. */
export function httpHostInvalid(field: string, message: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "HTTP_HOST_INVALID",
    field,
    message: `${field} ${message}`,
    help: "Send at most 100 hosts without scheme, path and wildcard, with a port unless it is 443, such as api.example.com or api.example.com:8443.",
  });
}

/** What a person would confirm by it, or who, is not known. */
export function confirmInvalid(field: string, message: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CONFIRM_INVALID",
    field,
    message: `${field} ${message}`,
    help: "Send person `never`, `destructive` or `writes`, and with the latter two the principalId of a contact that PutContact has put.",
  });
}

/** A place that nobody may be sent to, or too many of them. */
export function redirectUrlInvalid(field: string, message: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "REDIRECT_URL_INVALID",
    field,
    message: `${field} ${message}`,
    help: "Send at most 100 absolute https URLs (http for loopback) of up to 2,048 characters, without credentials and fragment.",
  });
}

/** The quarantine has no such post, or no longer. */
export function quarantinedPostNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "QUARANTINED_POST_NOT_FOUND",
    field: "id",
    message: `there is no quarantined post ${formatValue(id)}`,
    help: "Check the id; a post past its retention reads as missing.",
  });
}

/** A release of everything at once. */
export function releaseFilterRequired(): Fault {
  return fault({
    code: "invalid_argument",
    reason: "FILTER_REQUIRED",
    message: "ids, toolkitSlug, since and until are all empty",
    help: "Name the posts to release by at least one of them.",
  });
}

/** More ids than one call takes. */
export function tooManyIds(count: number, max: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "TOO_MANY_IDS",
    field: "ids",
    message: `ids has ${count} entries`,
    help: `Send at most ${max} at once.`,
  });
}

/** A key cannot be bound to such an entity. */
export function entityIdInvalid(entityId: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENTITY_ID_INVALID",
    field: "entityId",
    message: `entityId ${formatValue(entityId)} is longer than 200 characters or holds control characters`,
    help: "Send your own id of the user, 1 to 200 characters, or leave it empty.",
  });
}

/** The deployment has no such erasure. */
export function erasureNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "ERASURE_NOT_FOUND",
    field: "id",
    message: `there is no erasure ${formatValue(id)}`,
    help: "EraseEntity and DeleteProject return the id of what they began.",
  });
}

/** One of the tools that a key is to be given beside those of apps is none. */
export function agentToolsInvalid(index: number, text: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "AGENT_TOOLS_INVALID",
    field: `agentTools[${index}]`,
    message: `agentTools[${index}] ${formatValue(text)} is none of ${agentToolGroups.join(", ")}`,
    help: "Name those of them that the key is to be given, or none.",
  });
}

/** A key cannot be bound to such a class of tools. */
export function accessClassInvalid(index: number, text: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ACCESS_CLASS_INVALID",
    field: `accessClasses[${index}]`,
    message: `accessClasses[${index}] ${formatValue(text)} is not a class`,
    help: "Send read, write or destructive, or leave the list empty.",
  });
}

/** A key cannot be bound to such toolkits. */
export function toolkitSlugsInvalid(what: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "TOOLKIT_SLUGS_INVALID",
    field: "toolkitSlugs",
    message: `toolkitSlugs ${what}`,
    help: "Send up to 100 slugs of toolkits, or leave the list empty.",
  });
}

/** Nobody of that form does anything. */
export function actorInvalid(actor: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ACTOR_INVALID",
    field: "actor",
    message: `actor ${formatValue(actor)} is neither admin, link nor service, and no id of a key or a job`,
    help: "Send the actor as ListAuditEvents returned it.",
  });
}

/** Nothing of the store is held. */
export function storeNotHeld(): Fault {
  return fault({
    code: "failed_precondition",
    reason: "STORE_NOT_HELD",
    message: "the store is not held: it was never restored from a backup, or was resumed already",
    help: "GetRestore tells when it was.",
  });
}

/** The deployment keeps no secret of such a name. */
export function deploymentSecretUnknown(name: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "DEPLOYMENT_SECRET_UNKNOWN",
    field: "name",
    message: `name ${formatValue(name)} is of no secret that the deployment keeps`,
    help: `Send one of ${deploymentSecretNames.join(", ")}.`,
  });
}

/** A text that the deployment could not send, which is not repeated. */
export function deploymentSecretInvalid(): Fault {
  return fault({
    code: "invalid_argument",
    reason: "DEPLOYMENT_SECRET_INVALID",
    field: "value",
    message: "value has less than 8 or more than 8,192 characters, or others than visible ASCII",
    help: "Send it as it is to be sent in a header, without spaces and line ends.",
  });
}

/** The deployment keeps no value under the name. */
export function deploymentSecretNotFound(name: string): Fault {
  return fault({
    code: "not_found",
    reason: "DEPLOYMENT_SECRET_NOT_FOUND",
    field: "name",
    message: `the deployment keeps no ${formatValue(name)}`,
    help: "ListDeploymentSecrets returns those that it keeps.",
  });
}
