import { type CatalogView, nearest, type Tool } from "@svc/catalog";
import { isToolGranted } from "@svc/core";
import type { McpContext, Params } from "../mcp/offer.ts";
import { directName, isDirect, isDirectlyListed } from "./direct-tools.ts";
import { meantArguments, unwrapped } from "./meant-arguments.ts";
import { meantName, meantSlugs } from "./meant-names.ts";
import { callerOf, type ListedTool } from "./meta-tools.ts";

/** A call as the client sent it: the name of a tool and its arguments. */
export type AskedTool = { readonly name: string; readonly args: Params };

type Asking = Pick<McpContext, "address" | "principal">;

/**
 * Returns the call that a client means: the name of a listed tool, and arguments in that tool's form. If the name is the slug of an app's
 * tool, returns a call of the meta-tool that calls that app's tool. Returns undefined if it is not certain which tool is meant.
 */
export function meantCall(
  { name, args }: AskedTool,
  {
    given,
    view,
    asking,
  }: { readonly given: readonly ListedTool[]; readonly view: CatalogView; readonly asking: Asking },
): AskedTool | undefined {
  const named = meantName(
    name,
    given.map((tool) => tool.name),
  );
  const own = given.find((tool) => tool.name === named);
  if (own !== undefined) return { name: own.name, args: meantArguments(own, args, view) };
  const tools = meantTools(name, view, asking);
  const [tool] = tools;
  if (tool === undefined || tools.length > 1) return undefined;
  if (isDirect(asking.address) && isDirectlyListed(tool, asking))
    return { name: directName(tool.slug), args: unwrapped(args, tool) };
  const caller =
    given.find((one) => one.name === callerOf(tool.class)) ?? given.find((one) => one.name === "call_tool");
  return caller && { name: caller.name, args: meantArguments(caller, callOf(tool, args, caller), view) };
}

function meantTools(name: string, view: CatalogView, { principal }: Asking): readonly Tool[] {
  return meantSlugs(name, view).flatMap((slug) => {
    const tool = view.tools.get(slug);
    return tool !== undefined && isToolGranted(principal.binding, tool) ? [tool] : [];
  });
}

/**
 * Returns the arguments with which the meta-tool `caller` calls the tool of an app. A meta-tool is a tool of svc that calls other tools.
 * `args`: the client's arguments. They are either the arguments of the app's tool, or already the arguments of the meta-tool (with a field
 * `arguments`).
 */
function callOf({ slug, inputSchema }: Tool, args: Params, caller: ListedTool): Params {
  const taken = caller.inputSchema["properties"] as object;
  const own = (inputSchema["properties"] ?? {}) as object;
  const isWhole = Object.hasOwn(args, "arguments") && !Object.hasOwn(own, "arguments");
  return isWhole && Object.keys(args).every((key) => Object.hasOwn(taken, key))
    ? { ...args, slug }
    : { slug, arguments: args };
}

/** Returns the message for a tool that a client does not have. It names a tool to use instead, and shows the call to make. */
export function insteadOf(
  name: string,
  {
    given,
    view,
    asking,
  }: { readonly given: readonly ListedTool[]; readonly view: CatalogView; readonly asking: Asking },
): string {
  const names = given.map((tool) => tool.name);
  const own = names.length === 0 ? "" : ` svc has ${names.join(", ")} here.`;
  const caller = names.find((one) => one === "call_tool") ?? names.find((one) => one === "read_tool");
  if (caller === undefined) return own;
  const meant = meantTools(name, view, asking).map(({ slug }) => slug);
  const granted = [...view.tools.values()].filter((tool) => isToolGranted(asking.principal.binding, tool));
  const near =
    nearest(
      name,
      granted.map(({ slug }) => slug),
    ) ?? "<slug of search_tools>";
  const slugs = meant.length > 0 ? meant.slice(0, 5) : [near];
  const calls = slugs.map((slug) => `${caller} {"slug": ${JSON.stringify(slug)}, "entity_id": …, "arguments": {…}}`);
  return `${own} A tool of an app is called by its slug: ${calls.join(", or ")}`;
}
