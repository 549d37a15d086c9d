import type { StepEffects } from "../steps/effects.ts";
import type { Port } from "./port.ts";

/** What interrupts a driver from outside, where its worker says so; it is looked at between any two acts. */
export type Interrupts = {
  readonly isStopping: boolean;
  /** The job is to be cancelled, as the next commit will find. */
  readonly isCancelSeen: boolean;
  /** The job is to be paused, as the next commit will find, unless it was resumed by then. */
  isPauseSeen: boolean;
  /** Whether others wait for this node. */
  hasOthersWaiting(): boolean;
};

/** Who drives one job under one lease. */
export type Driver = {
  readonly port: Port;
  readonly effects: StepEffects;
  readonly interrupts: Interrupts;
  readonly startedMs: number;
  /** Leases of the job that ran out under those who drove it before, since it last got on. */
  readonly losses: number;
  /** Whether it has had its share of time, and others wait for the node. */
  isSliceOver(): boolean;
};

/** Who carries out a change, without driving on from it. */
export type Follower = Pick<Driver, "port" | "startedMs" | "isSliceOver">;
