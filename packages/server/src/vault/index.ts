export { checkVault } from "../start/vault-check.ts";
export { openVault } from "./open-vault.ts";
