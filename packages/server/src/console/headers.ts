/** Path of the console. */
export const consolePath = "/console/";

/** Path of the portal: pages on which a customer manages its own endpoints. The id of a project follows, and then the path of a page. */
export const portalPath = "/portal/";

/** True if a path belongs to the console or to the portal. */
export function isConsolePath(path: string): boolean {
  return path.startsWith(consolePath) || path === "/console" || path.startsWith(portalPath);
}
