export { sandboxFaults } from "./errors.ts";
export { type Inboxes, inboxBodyBytesMax, inboxPrefix } from "./inboxes.ts";
export { sandboxClientId } from "./oauth/authorize.ts";
export { authorizePath as sandboxAuthorizePath } from "./oauth/consent-page.ts";
export type { SandboxOauth } from "./oauth/oauth.ts";
export { sandboxTokenUrl } from "./oauth/token.ts";
export { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";
export { scenarios as sandboxScenarios } from "./scenarios.ts";
