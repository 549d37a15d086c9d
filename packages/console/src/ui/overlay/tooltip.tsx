import * as Ariakit from "@ariakit/react";
import type { ReactElement } from "react";
import styles from "./tooltip.module.css";

/** Shows more about its content, on hover and focus. `isLabel` if the text is its accessible name; otherwise it is its description. */
export function Tooltip({
  text,
  isLabel = false,
  children,
}: {
  text: string;
  isLabel?: boolean;
  children: ReactElement<object>;
}) {
  return (
    <Ariakit.TooltipProvider timeout={300} type={isLabel ? "label" : "description"}>
      <Ariakit.TooltipAnchor render={children} {...(isLabel ? { "aria-label": text } : { "aria-description": text })} />
      <Ariakit.Tooltip className={styles["tooltip"]} unmountOnHide>
        {text}
      </Ariakit.Tooltip>
    </Ariakit.TooltipProvider>
  );
}
