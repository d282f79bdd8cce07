import styles from './brand.module.css';
import mark from './mark.svg';

/** The mark and the name. */
export const Brand = () => (
  <span className={styles.brand}>
    <img src={mark} alt="" width={22} height={22} />
    Signet
  </span>
);
