import * as Ariakit from "@ariakit/react";
import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import styles from "./dialog.module.css";

/**
 * A dialog over the page. The Escape key closes the dialog. By default, a press outside of the dialog closes it too. If
 * `hideOnInteractOutside` is false, such a press does nothing, so that typed input is not lost. `actions`: buttons at the end of the
 * dialog, the main button last.
 */
export function Dialog({
  open,
  onClose,
  title,
  children,
  actions,
  wide = false,
  hideOnInteractOutside = true,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  actions?: ReactNode;
  wide?: boolean;
  hideOnInteractOutside?: boolean;
}) {
  return (
    <Ariakit.Dialog
      open={open}
      onClose={onClose}
      unmountOnHide
      hideOnInteractOutside={hideOnInteractOutside}
      backdrop={<div className={styles["backdrop"]} />}
      className={classNames(styles["dialog"], wide && styles["wide"])}
    >
      <Ariakit.DialogHeading render={(props) => <h2 {...props}>{title}</h2>} />
      {children}
      {actions !== undefined && <div className={styles["actions"]}>{actions}</div>}
    </Ariakit.Dialog>
  );
}
