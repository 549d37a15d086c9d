ALTER TABLE "connected_accounts" ADD COLUMN "credential_tried_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "connected_accounts" ADD COLUMN "is_credential_taken" boolean;