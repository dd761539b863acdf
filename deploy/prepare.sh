#!/bin/sh
# Makes the secrets that compose.yaml reads, where they are not there yet, and says what only you can give. Needs openssl.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets
chmod 0700 secrets

for name in postgres_password redis_password grafana_password operator_token; do
  [ -e "secrets/$name" ] || openssl rand -hex 24 > "secrets/$name"
done
# Encrypts the secrets of webhooks in the ledger: keep it with your backups.
[ -e secrets/webhooks_key ] || openssl rand -base64 32 > secrets/webhooks_key

# For a first try. Put the certificate of your own name there, its chain and its key in one file.
if [ ! -e secrets/certificate.pem ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 90 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout secrets/certificate.key -out secrets/certificate.crt 2> /dev/null
  cat secrets/certificate.crt secrets/certificate.key > secrets/certificate.pem
  rm secrets/certificate.crt secrets/certificate.key
  echo 'secrets/certificate.pem is signed by itself, for localhost, and ends in 90 days'
fi

# Where alerts go: webhooks of yours. Until then Alertmanager keeps what it cannot send.
for name in page_url ticket_url heartbeat_url; do
  [ -s "secrets/$name" ] || printf %s http://receiver.invalid/ > "secrets/$name"
  ! grep -q receiver.invalid "secrets/$name" || echo "secrets/$name leads nowhere yet: write the URL of your receiver there (alertmanager.yaml)"
done

missing=0
[ -s secrets/provider_key ] || { echo 'missing: secrets/provider_key, your key at the provider' >&2; missing=1; }
[ -e .env ] || { echo 'missing: .env (copy .env.example, and name your provider there)' >&2; missing=1; }

# Each container reads its own secrets as a user of its own. The folder is open to you alone.
chmod 0644 secrets/*
exit "$missing"
