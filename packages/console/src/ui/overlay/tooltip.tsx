import * as Ariakit from "@ariakit/react";
import type { ReactElement } from "react";
import styles from "./tooltip.module.css";

/** Says more about what it holds, at hover and focus. `isLabel` where the text is its name; else it describes it. */
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
