/** Path of the console. */
export const consolePath = "/console/";

/** Path of the portal: pages on which a customer manages its own endpoints. The id of a project follows, and then the path of a page. */
export const portalPath = "/portal/";

/**
 * Returns the address of a page of the console or the portal in a cell, such as `/console/c2/` for `/console/`. A cell is one of several
 * deployments behind one address; the proxy routes by this address, and svc redirects to the page itself. Without a cell, returns `path`.
 */
export function ofCell(path: string, cell: string | undefined): string {
  return cell === undefined ? path : `${path}${cell}/`;
}

/**
 * Returns the path of a page of the console or the portal without the name of the cell (one of several deployments behind one address).
 * Returns undefined if the path does not name this cell.
 */
export function pageInCell(path: string, cell: string | undefined): string | undefined {
  if (cell === undefined) return undefined;
  const base = [consolePath, portalPath].find((one) => path.startsWith(ofCell(one, cell)));
  return base && `${base}${path.slice(ofCell(base, cell).length)}`;
}

/** True if a path belongs to the console or to the portal. */
export function isConsolePath(path: string): boolean {
  return path.startsWith(consolePath) || path === "/console" || path.startsWith(portalPath);
}
