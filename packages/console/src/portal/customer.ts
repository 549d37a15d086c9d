import { type Context, createContext, useContext } from "react";
import type { PortalSession } from "./session.ts";

/** React context with the customer's portal session. The components inside the provider use this session for their calls. */
export const Customer: Context<PortalSession | undefined> = createContext<PortalSession | undefined>(undefined);

/** Returns true if the customer may change and send something. With a read-only link, the pages show no actions. */
export function useCanChange(): boolean {
  return useContext(Customer)?.seat.readOnly === false;
}
