-- Set where an operator ends a secret at once: its `expires_at` is by the clock of one isolate, and others may be behind.
ALTER TABLE `key_secrets` ADD `is_ended` integer DEFAULT false NOT NULL;
